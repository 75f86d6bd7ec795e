(* The conclusion: output perturbation over the reals. A solver's weights, and noise of which one row's share is hidden. *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality mathcomp_extra.
From mathcomp.analysis Require Import reals ereal topology normedtype realfun sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Losses Radius Existence Approximate Groups.
From Equipoise Require Import Privacy Vectors Laplace Lebesgue Noise Independent.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section output.
Variables (R : realType) (d : nat).
Local Notation weights := 'rV[R]_d.
Local Notation ip := (coordinates R d).
Local Notation norm := (norm ip).
Implicit Types lambda noise : {measure set (vectors R d) -> \bar R}.

(* The laws `spherical_laplace`, a density with respect to Lebesgue measure on R^d, and `laplace`, independent variables. *)
Definition spherical_laplace noise (b : R) := noise setT = 1%E /\ exists2 c, 0 <= c &
  has_density (lebesgue R d) noise (fun k => c * expR (- (norm k / b))).

Definition laplace noise (b : R) := noise setT = 1%E /\ independent_laplace b noise.

(* Noise at a scale that hides the sensitivity Delta (pages D1 and D2). *)
Definition calibrated noise (Delta epsilon : R) := exists2 b, 0 < b &
  (spherical_laplace noise b /\ Delta / b <= epsilon) \/ (laplace noise b /\ Num.sqrt d%:R * Delta / b <= epsilon).

(* There is such noise for every sensitivity and budget. *)
Theorem calibrated_exists (Delta epsilon : R) : 0 < Delta -> 0 < epsilon -> exists noise, calibrated noise Delta epsilon.
Proof.
move=> Delta0 epsilon0; have b0 : 0 < Delta / epsilon by exact: divr_gt0.
have [noise [c [one c0 density]]] := spherical_laplace_exists d b0.
exists noise, (Delta / epsilon) => //; left; split; first by split=> //; exists c.
by rewrite invf_div mulrCA divff ?mulr1 ?gt_eqF.
Qed.

Theorem calibrated_hides noise (Delta epsilon : R) w w' : calibrated noise Delta epsilon ->
  norm (w - w') <= Delta -> close epsilon 0 (shifted noise w) (shifted noise w').
Proof.
have invariant : translation_invariant (lebesgue R d) by move=> v E; exact: lebesgue_translation.
move=> [b b0 [[[_ [c c0 density]] scale]|[[_ independent] scale]]] near; apply: close_weaken scale (lexx _) _.
  exact: (D1 invariant density b0 c0 near).
by have [_] := D2 b0 w w' independent; apply.
Qed.

(* What stands in a slot is a row, a row of a class with a count, or a person: any P. *)
Variables (P : Type) (n : nat) (loss : P -> weights -> R) (penalty : weights -> R) (C : weights -> Prop).
Local Notation table := ('I_n -> P).

Definition exact_minimiser (S : table) w := minimiser C (objective loss penalty S) w.

(* The solver ends within tau/mu of an exact minimiser, whatever the rows (page A4). *)
Definition solves (returned : table -> weights) (tau mu : R) :=
  forall S, near_minimiser ip C (objective loss penalty S) (tau / mu) (returned S).

(* Or it ends at a subgradient of norm at most tau, at points where the rows' gradient diameter is known; an exact
   minimiser need not exist then. *)
Definition flattens (returned : table -> weights) (tau : R) (D : weights -> Prop) := forall S, D (returned S) /\
  exists2 p, subgradient ip C (objective loss penalty S) (returned S) p & norm p <= tau.

Lemma release_private returned noise (bound tau mu epsilon : R) :
  (forall S S' w w', neighbours S S' -> exact_minimiser S w -> exact_minimiser S' w' -> norm (w - w') <= bound) ->
  solves returned tau mu -> calibrated noise (bound + 2 * tau / mu) epsilon ->
  private epsilon 0 (fun S => shifted noise (returned S)).
Proof.
move=> stable solved hidden S S' adj; apply: calibrated_hides hidden _.
have [w_S exactS nearS] := solved S; have [w_S' exactS' nearS'] := solved S'.
exact: (A4 (stable _ _ _ _ adj exactS exactS') nearS nearS').
Qed.

Lemma release_private_flat returned noise (Gam tau mu epsilon : R) (D : weights -> Prop) : 0 < mu ->
  (forall (S S' : table) w w' p p', neighbours S S' -> D w' -> subgradient ip C (objective loss penalty S) w p ->
    subgradient ip C (objective loss penalty S') w' p' -> norm (w - w') <= (Gam / n%:R + norm p + norm p') / mu) ->
  flattens returned tau D -> calibrated noise (Gam / (n%:R * mu) + 2 * tau / mu) epsilon ->
  private epsilon 0 (fun S => shifted noise (returned S)).
Proof.
move=> mu0 stable flat hidden S S' adj; apply: calibrated_hides hidden _.
have [_ [p sub small]] := flat S; have [Dw' [p' sub' small']] := flat S'.
apply: le_trans (stable _ _ _ _ _ _ adj Dw' sub sub') _.
rewrite invfM [X in _ <= X + _]mulrA -mulrDl ler_pmul2r ?invr_gt0 // -addrA ler_add2l mulr_natl mulr2n.
exact: ler_add.
Qed.

End output.

(* A solver with coins of its own, which do not depend on the rows: the release together with the coins. *)
Section coins.
Variables (R : realType) (d n : nat) (P : Type) (d0 : measure_display) (coins : measurableType d0).
Variables (law : {measure set coins -> \bar R}) (noise : {measure set (vectors R d) -> \bar R}).
Hypotheses (law1 : law setT = 1%E) (noise1 : noise setT = 1%E).
Variable returned : coins -> ('I_n -> P) -> 'rV[R]_d.
Hypothesis measurable_returned : forall S, measurable_fun setT (fun x => returned x S : vectors R d).

Definition release S : kernel R coins (vectors R d) := shifted_kernel noise1 (measurable_returned S).

Theorem release_with_coins (epsilon : R) :
  (forall x, private epsilon 0 (fun S => shifted noise (returned x S))) ->
  private epsilon 0 (fun S => joint_law law (release S)).
Proof.
move=> given; have := @N3_sequence R _ _ _ _ P n (fun=> law) (fun=> law1) release 0 0 epsilon 0 (lexx 0) _ given.
rewrite add0r addr0; apply=> S S' _ E _.
by rewrite expR0 mul1e adde0.
Qed.

End coins.

Section released.
Variables (R : realType) (d n : nat).
Local Notation weights := 'rV[R]_d.
Local Notation ip := (coordinates R d).
Local Notation norm := (norm ip).
Variables (Z : Type) (loss : Z -> weights -> R) (G : Z -> weights -> weights -> Prop).
Variables (penalty : weights -> R) (C D : weights -> Prop) (Gam mu tau epsilon : R).
Variable noise : {measure set (vectors R d) -> \bar R}.

(* Public facts: convex rows with gradient diameter Gam where minimisers lie, a mu-strongly convex penalty, and noise
   calibrated to the sensitivity that follows. *)
Hypothesis mu_gt0 : 0 < mu.
Hypothesis rows : rows_as_in_A2 ip loss G penalty C D Gam mu.
Hypothesis hidden : calibrated noise (Gam / (n%:R * mu) + 2 * tau / mu) epsilon.

(* Output perturbation as released, for rows: A2, A4, D1 and post-processing by any measurable f, as one theorem. The
   solver ends near exact minimisers, or with small subgradients. *)
Theorem output_perturbation (returned : ('I_n -> Z) -> weights) d0 (T : measurableType d0)
    (f : vectors R d -> T) (mf : measurable_fun setT f) :
  (forall S x, exact_minimiser loss penalty C (n := n) S x -> D x) /\ solves loss penalty C returned tau mu
    \/ flattens loss penalty C returned tau D ->
  private epsilon 0 (fun S => [the measure _ _ of pushforward (shifted noise (returned S)) mf]).
Proof.
have [convexC convexl convexr slope diameter] := rows.
move=> [[inD solved]|flat]; apply: N3_function; [apply: release_private solved hidden|
  apply: (release_private_flat mu_gt0 _ flat hidden)].
  by move=> S S' w w' adj; apply: (A2 adj mu_gt0 convexC (objective_convex S convexl convexr) slope diameter inD).
move=> S S' w w' p p' adj Dw'.
apply: (one_curvature adj mu_gt0 convexC (objective_convex S convexl convexr) slope) => z z' s s'.
exact: diameter.
Qed.

(* The same for all rows of a person (N1), for classes with counts of at most 1 (N2), and for both. *)
Hypothesis origin : forall x, D x -> exists z, G z x 0.

Lemma output_perturbation_slots (P : Type) (slot_loss : P -> weights -> R) (returned : ('I_n -> P) -> weights)
    d0 (T : measurableType d0) (f : vectors R d -> T) (mf : measurable_fun setT f) :
  as_rows ip G penalty C D Gam 0 mu slot_loss ->
  (forall S x, exact_minimiser slot_loss penalty C (n := n) S x -> D x) /\ solves slot_loss penalty C returned tau mu
    \/ flattens slot_loss penalty C returned tau D ->
  private epsilon 0 (fun S => [the measure _ _ of pushforward (shifted noise (returned S)) mf]).
Proof.
move=> [exact_bound _ one _ _] [[inD solved]|flat]; apply: N3_function.
  by apply: release_private solved hidden => S S' w w' adj; exact: (exact_bound _ _ _ _ _ adj inD).
by apply: (release_private_flat mu_gt0 _ flat hidden) => S S' w w' p p' adj; exact: one.
Qed.

Theorem output_perturbation_persons k_max (returned : ('I_n -> seq Z) -> weights) d0 (T : measurableType d0)
    (f : vectors R d -> T) (mf : measurable_fun setT f) :
  (forall S x, exact_minimiser (person_loss loss k_max) penalty C (n := n) S x -> D x) /\
    solves (person_loss loss k_max) penalty C returned tau mu
    \/ flattens (person_loss loss k_max) penalty C returned tau D ->
  private epsilon 0 (fun S => [the measure _ _ of pushforward (shifted noise (returned S)) mf]).
Proof. exact: output_perturbation_slots (N1 mu_gt0 (lexx 0) rows origin k_max). Qed.

Variable count : Z -> R.
Hypothesis count01 : forall z, 0 <= count z <= 1.

Theorem output_perturbation_class_weights (returned : ('I_n -> Z) -> weights)
    d0 (T : measurableType d0) (f : vectors R d -> T) (mf : measurable_fun setT f) :
  (forall S x, exact_minimiser (weighted_loss loss count) penalty C (n := n) S x -> D x) /\
    solves (weighted_loss loss count) penalty C returned tau mu
    \/ flattens (weighted_loss loss count) penalty C returned tau D ->
  private epsilon 0 (fun S => [the measure _ _ of pushforward (shifted noise (returned S)) mf]).
Proof. exact: output_perturbation_slots (N2 mu_gt0 (lexx 0) rows origin count01). Qed.

Theorem output_perturbation_class_weights_persons k_max (returned : ('I_n -> seq Z) -> weights)
    d0 (T : measurableType d0) (f : vectors R d -> T) (mf : measurable_fun setT f) :
  (forall S x, exact_minimiser (weighted_person_loss loss count k_max) penalty C (n := n) S x -> D x) /\
    solves (weighted_person_loss loss count k_max) penalty C returned tau mu
    \/ flattens (weighted_person_loss loss count k_max) penalty C returned tau D ->
  private epsilon 0 (fun S => [the measure _ _ of pushforward (shifted noise (returned S)) mf]).
Proof. exact: output_perturbation_slots (N2_persons mu_gt0 (lexx 0) rows origin count01 k_max). Qed.

End released.

(* The same with nothing left abstract but the loss: rows of norm at most B with any target, phi convex in the
   prediction and l-Lipschitz (logistic, hinge, absolute: l = 1), any mu-strongly convex penalty. *)
Section predictions.
Variables (R : realType) (d n : nat) (Y : Type) (phi : Y -> R -> R) (B l mu tau epsilon : R).
Local Notation weights := 'rV[R]_d.
Local Notation ip := (coordinates R d).

Structure row := Row { features : weights; target : Y; bounded : norm ip features <= B }.

Definition prediction_loss (z : row) (w : weights) := phi (target z) (dot ip w (features z)).

Theorem output_perturbation_predictions (penalty : weights -> R) (C : weights -> Prop)
    (returned : ('I_n -> row) -> weights) (noise : {measure set (vectors R d) -> \bar R}) :
  0 < mu -> convex_set C -> strongly_convex ip mu C penalty ->
  (forall y, convex_line (phi y)) -> (forall y a b, `|phi y a - phi y b| <= l * `|a - b|) ->
  solves prediction_loss penalty C returned tau mu ->
  calibrated noise (2 * (l * B) / (n%:R * mu) + 2 * tau / mu) epsilon ->
  private epsilon 0 (fun S => shifted noise (returned S)).
Proof.
move=> mu0 convexC convexr convexphi lipschitz solved hidden.
have slope y m s := lipschitz_slope (m := m) (s := s) (lipschitz y).
apply: release_private solved hidden => S S' w w' adj minw minw'.
apply: (@A2 _ _ ip _ prediction_loss penalty C n S S'
  (fun z => prediction_slopes ip (phi (target z)) (features z)) _ _ (fun=> True)) => //.
- by apply: objective_convex => // z; apply: prediction_convex; exact: convexphi.
- by move=> z; apply: prediction_has_slopes; exact: convexphi.
- by move=> x z z' s s' _; apply: slope_diameter; [exact: slope|exact: slope|exact: bounded|exact: bounded].
Qed.

(* Exact minimisers exist, on every closed convex set that holds a point. *)
Theorem prediction_minimiser_exists (penalty : weights -> R) (C : weights -> Prop) x0 (S : 'I_n -> row) :
  0 < mu -> convex_set C -> closed_weights C -> C x0 ->
  strongly_convex ip mu C penalty -> lower_semicontinuous C penalty ->
  (forall y, convex_line (phi y)) -> (forall y a b, `|phi y a - phi y b| <= l * `|a - b|) ->
  exists w, exact_minimiser prediction_loss penalty C S w.
Proof.
move=> mu0 convexC closedC Cx0 convexr lowerr convexphi lipschitz.
have convexF : strongly_convex ip mu C (objective prediction_loss penalty S).
  by apply: objective_convex => // z; apply: prediction_convex; exact: convexphi.
suff lowerF : lower_semicontinuous C (objective prediction_loss penalty S).
  exact: (minimiser_exists mu0 convexC convexF closedC lowerF Cx0).
have K0 : 0 <= `|l| * `|B| by rewrite mulr_ge0.
apply: (lower_add K0 _ lowerr) => x y.
have each i : prediction_loss (S i) x <= prediction_loss (S i) y + `|l| * `|B| * norm ip (y - x).
  rewrite -ler_subl_addl (le_trans (ler_norm _)) // (le_trans (lipschitz _ _ _)) // -dotBl.
  apply: (@le_trans _ _ (`|l| * `|dot ip (x - y) (features (S i))|)); first by rewrite ler_wpmul2r ?ler_norm.
  rewrite -mulrA ler_wpmul2l //; apply: (@le_trans _ _ (norm ip (y - x) * norm ip (features (S i)))).
    rewrite ler_norml -(norm_subC ip x) dot_norm andbT ler_oppl -dotNl -(normN ip (x - y)).
    exact: dot_norm.
  rewrite mulrC ler_wpmul2r ?norm_ge0 //; apply: le_trans (bounded (S i)) _; exact: ler_norm.
have [n0|n0] := posnP n.
  have empty w : \sum_(i < n) prediction_loss (S i) w = 0 
    by apply: big1 => -[i i_n] _; suff : (i < 0)%N by []; rewrite -n0.
  by rewrite !empty mulr0 add0r mulr_ge0 ?norm_ge0.
have N0 : 0 < n%:R :> R by rewrite ltr0n.
rewrite -(ler_pmul2l N0) mulrDr !mulrA divff ?gt_eqF // !mul1r.
apply: (@le_trans _ _ (\sum_i (prediction_loss (S i) y + `|l| * `|B| * norm ip (y - x)))).
  by apply: ler_sum => i _; exact: each.
by rewrite big_split /= sumr_const card_ord -[X in _ + X <= _]mulr_natl !mulrA.
Qed.

(* For such losses a solver may be asked for a subgradient of norm tau in place of a distance from a minimiser, which
   then need not even exist (page A4, "with the curvature of one dataset"). *)
Theorem output_perturbation_subgradients (penalty : weights -> R) (C : weights -> Prop)
    (returned : ('I_n -> row) -> weights) (noise : {measure set (vectors R d) -> \bar R}) :
  0 < mu -> convex_set C -> strongly_convex ip mu C penalty ->
  (forall y, convex_line (phi y)) -> (forall y a b, `|phi y a - phi y b| <= l * `|a - b|) ->
  flattens prediction_loss penalty C returned tau (fun=> True) ->
  calibrated noise (2 * (l * B) / (n%:R * mu) + 2 * tau / mu) epsilon ->
  private epsilon 0 (fun S => shifted noise (returned S)).
Proof.
move=> mu0 convexC convexr convexphi lipschitz flat hidden.
have slope y m s := lipschitz_slope (m := m) (s := s) (lipschitz y).
apply: (release_private_flat mu0 _ flat hidden) => S S' w w' p p' adj _.
apply: (@one_curvature _ _ ip _ prediction_loss penalty C n S S'
  (fun z => prediction_slopes ip (phi (target z)) (features z)) _ _ _ _ p p' adj mu0 convexC) => //.
- by apply: objective_convex => // z; apply: prediction_convex; exact: convexphi.
- by move=> z; apply: prediction_has_slopes; exact: convexphi.
- by move=> z z' s s'; apply: slope_diameter; [exact: slope|exact: slope|exact: bounded|exact: bounded].
Qed.

End predictions.

(* And with nothing left abstract: a support vector machine, two classes, a ridge, any weights. *)
Section support_vector_machine.
Variables (R : realType) (d n : nat) (B mu tau epsilon : R).
Local Notation norm := (norm (coordinates R d)).

Definition hinge_of_class (class : bool) : R -> R := hinge (if class then 1 else -1).

Definition machine n (S : 'I_n -> row d bool B) :=
  exact_minimiser (prediction_loss hinge_of_class (B := B)) (fun w => mu / 2 * norm w ^+ 2) (fun=> True) S.

Let hinge_of_class_lipschitz y a b : `|hinge_of_class y a - hinge_of_class y b| <= 1 * `|a - b|.
Proof. by apply: hinge_lipschitz; case: y; rewrite ?normrN normr1. Qed.

Theorem machine_exists (S : 'I_n -> row d bool B) : 0 < mu -> exists! w, machine S w.
Proof.
move=> mu0; have [w min] : exists w, machine S w.
  apply: (@prediction_minimiser_exists R d n bool hinge_of_class B 1 mu _ _ 0) => //.
  - exact: ridge_strongly_convex.
  - exact: ridge_lower.
  - by move=> y; exact: hinge_convex.
exists w; split=> // v; apply: (unique_minimiser mu0) min => //.
apply: objective_convex; last exact: ridge_strongly_convex.
by move=> z; apply: prediction_convex; exact: hinge_convex.
Qed.

(* The solver ends within tau/mu of the minimiser, whatever the rows. *)
Theorem support_vector_machine (returned : ('I_n -> row d bool B) -> 'rV[R]_d)
    (noise : {measure set (vectors R d) -> \bar R}) :
  0 < mu -> (forall S w_S, machine S w_S -> norm (returned S - w_S) <= tau / mu) ->
  calibrated noise (2 * B / (n%:R * mu) + 2 * tau / mu) epsilon ->
  private epsilon 0 (fun S => shifted noise (returned S)).
Proof.
move=> mu0 solved; rewrite -[B in 2 * B]mul1r => hidden.
apply: (@output_perturbation_predictions R d n bool hinge_of_class B 1 mu tau epsilon
  (fun w => mu / 2 * norm w ^+ 2) (fun=> True)) hidden => //.
- exact: ridge_strongly_convex.
- by move=> y; exact: hinge_convex.
- by move=> S; have [w [min _]] := machine_exists S mu0; exists w => //; exact: solved.
Qed.

End support_vector_machine.
