(* Page K1: phases on disjoint slices of the rows, each started from what was released before. *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality mathcomp_extra.
From mathcomp.analysis Require Import reals ereal topology normedtype sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Radius Approximate Gradients Descents Averages.
From Equipoise Require Import Privacy Vectors Laplace.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

(* The rows of a slice, whose places are `place 0`, `place 1`, ...: one row less or more, as of the table. *)
Lemma slice_neighbours (Z : Type) n k (place : 'I_k -> 'I_n) (S S' : 'I_n -> Z) : injective place -> neighbours S S' ->
  neighbours (S \o place) (S' \o place) \/ S \o place = S' \o place.
Proof.
move=> inj [i same]; have [[j ji]|none] := pselect (exists j, place j = i).
  by left; exists j => l lj; apply: same; rewrite -ji (inj_eq inj).
by right; apply/funext => j; apply: same; apply/eqP => ji; apply: none; exists j.
Qed.

Section phases.
Variables (R : realType) (d n : nat) (Z : Type) (epsilon delta : R).
Local Notation weights := 'rV[R]_d.
Local Notation ip := (coordinates R d).
Local Notation norm := (norm ip).
Local Notation table := ('I_n -> Z).
Implicit Types (noise : {measure set (vectors R d) -> \bar R}) (Delta : R).

Definition hides noise Delta :=
  forall w w', norm (w - w') <= Delta -> close epsilon delta (shifted noise w) (shifted noise w').

(* A phase computes v from its slice and from all that was released, and releases v with noise that hides its
   sensitivity. `read` holds the places that were read so far. *)
Inductive phases : forall d0 (Y : measurableType d0), (table -> {measure set Y -> \bar R}) -> ('I_n -> Prop) -> Prop :=
  | First_phase k (place : 'I_k -> 'I_n) (v : ('I_k -> Z) -> weights) noise Delta :
      injective place -> noise setT = 1%E -> 0 <= Delta -> hides noise Delta ->
      (forall s s', neighbours s s' -> norm (v s - v s') <= Delta) ->
      phases (fun S => shifted noise (v (S \o place))) (fun i => exists j, place j = i)
  | Next_phase d0 (Y : measurableType d0) (M : table -> {measure set Y -> \bar R}) (read : 'I_n -> Prop)
      k (place : 'I_k -> 'I_n) (v : Y -> ('I_k -> Z) -> weights) noise (noise1 : noise setT = 1%E) Delta
      (mv : forall s, measurable_fun setT (fun y => v y s : vectors R d)) :
      phases M read -> injective place -> (forall j, ~ read (place j)) -> 0 <= Delta -> hides noise Delta ->
      (forall y s s', neighbours s s' -> norm (v y s - v y s') <= Delta) ->
      phases (fun S => joint_law (M S) (shifted_kernel noise1 (mv (S \o place))))
        (fun i => read i \/ exists j, place j = i).

Let hidden k (place : 'I_k -> 'I_n) (v : ('I_k -> Z) -> weights) noise Delta S S' :
  injective place -> 0 <= Delta -> hides noise Delta -> (forall s s', neighbours s s' -> norm (v s - v s') <= Delta) ->
  neighbours S S' -> close epsilon delta (shifted noise (v (S \o place))) (shifted noise (v (S' \o place))).
Proof.
move=> inj Delta0 hide moves adj; apply: hide.
have [/moves//|->] := slice_neighbours inj adj; by rewrite subrr norm0.
Qed.

Let slice k (place : 'I_k -> 'I_n) (S S' : table) : (forall i, (exists j, place j = i) -> S i = S' i) ->
  S \o place = S' \o place.
Proof. by move=> same; apply/funext => j; apply: same; exists j. Qed.

Lemma phases_parallel d0 (Y : measurableType d0) (M : table -> {measure set Y -> \bar R}) read : 0 <= delta ->
  phases M read -> exists2 deltas, in_parallel epsilon M read deltas & forall x, x \in deltas -> x <= delta.
Proof.
move=> delta0; elim=> [k place v noise Delta inj one Delta0 hide moves|
    {}d0 {}Y {}M {}read k place v noise one Delta mv _ [deltas parallel below] inj apart Delta0 hide moves].
  exists [:: delta] => [|x]; last by rewrite inE => /eqP ->.
  apply: Alone => [S|S S' same E mE|S S' adj]; [exact: one|by rewrite (slice same)|exact: hidden hide moves adj].
exists (delta :: deltas) => [|x]; last by rewrite inE => /predU1P[->|/below].
apply: Beside => // [i readi [j ji]|y S S' same E mE|y S S' adj].
- by apply: (apart j); rewrite ji.
- by rewrite (slice same).
- exact: (hidden inj Delta0 hide (moves y) adj).
Qed.

End phases.

(* The two kinds of phases, for a fixed start. *)
Section kinds.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Local Notation norm := (norm ip).
Variables (Z : Type) (loss : Z -> V -> R) (k : nat) (C : V -> Prop).
Implicit Types (s : 'I_k -> Z) (start w : V).
Add Field reals : (real_field R).

(* The ridge around the start. *)
Definition around (lam : R) start w : R := lam / 2 * norm (w - start) ^+ 2.

Lemma around_strongly_convex lam start : strongly_convex ip lam C (around lam start).
Proof.
move=> x y t _ _ t01.
have := @ridge_strongly_convex _ _ ip lam (fun=> True) (x - start) (y - start) t I I t01.
by rewrite /around /between opprB addrA subrK addrAC.
Qed.

(* A minimiser is no further than L/lam from its start, L the losses' Lipschitz constant. *)
Definition start_is_near := forall (L lam : R) s start w, 0 < lam -> 0 <= L -> convex_set C ->
  (forall z, convex ip C (loss z)) -> (forall z x y, C x -> C y -> `|loss z x - loss z y| <= L * norm (x - y)) ->
  C start -> minimiser C (objective loss (around lam start) s) w -> norm (w - start) <= L / lam.

Lemma minimiser_around : start_is_near.
Proof.
move=> L lam s start w lam0 L0 convexC convexl lipschitz Cs best.
have Cw : C w by case: best.
have convexF := objective_convex s convexl (@around_strongly_convex lam start).
have := strong_growth convexC convexF ((minimiser_subgradient ip C _ w).1 best) Cs.
rewrite dot0l addr0 /objective /around subrr norm0 expr0n /= mulr0 addr0 (norm_subC ip start w) => grown.
have mean : k%:R^-1 * (\sum_i loss (s i) start) - k%:R^-1 * (\sum_i loss (s i) w) <= L * norm (w - start).
  rewrite -mulrBr -sumrB; have [k0|k0] := posnP k.
    by rewrite [in leLHS](_ : k%:R = 0) ?k0 // invr0 mul0r mulr_ge0 ?norm_ge0.
  rewrite mulrC ler_pdivr_mulr ?ltr0n //; apply: (@le_trans _ _ (\sum_(i < k) L * norm (w - start))).
    apply: ler_sum => i _; apply: (le_trans (ler_norm _)); rewrite (norm_subC ip w start); exact: lipschitz.
  by rewrite sumr_const card_ord mulr_natr.
apply: le_quotient => //; first exact: norm_ge0.
move: grown mean; set A := _ * (\sum_i loss (s i) w); set A' := _ * (\sum_i loss (s i) start) => grown mean.
by apply: (@le_by2 _ _ _ _ _ _ _ grown mean); real_fields R.
Qed.

(* What a solver returns around the start: Gam eta + 2 tau/lam for lam = 1/(eta k). *)
Definition minimisers_move := forall (G : Z -> V -> V -> Prop) (D : V -> Prop) (Gam eta tau : R) s s' start w w',
  let lam := (eta * k%:R)^-1 in
  0 < eta -> convex_set C -> (forall z, convex ip C (loss z)) -> (forall z, slopes ip (G z) (loss z)) ->
  (forall x z z' p p', D x -> G z x p -> G z' x p' -> norm (p - p') <= Gam) ->
  (forall s x, minimiser C (objective loss (around lam start) s) x -> D x) -> neighbours s s' ->
  near_minimiser ip C (objective loss (around lam start) s) (tau / lam) w ->
  near_minimiser ip C (objective loss (around lam start) s') (tau / lam) w' ->
  norm (w - w') <= Gam * eta + 2 * tau / lam.

Lemma phase_minimisers : minimisers_move.
Proof.
move=> G D Gam eta tau s s' start w w' lam eta0 convexC convexl slopesl diameter inD adj [w_S best near] [w_S' best' near'].
have k0 : (0 : R) < k%:R by have [i _] := adj; rewrite ltr0n (leq_ltn_trans (leq0n i)).
have lam0 : 0 < lam by rewrite invr_gt0 mulr_gt0.
have <- : Gam / (k%:R * lam) = Gam * eta.
  by rewrite /lam invfM invrK [_^-1 * _]mulrC mulfK // gt_eqF.
apply: A4 near near'.
apply: (A2 adj lam0 convexC _ slopesl diameter inD best best').
exact: objective_convex (@around_strongly_convex _ _).
Qed.

(* The uniform mean of a pass of gradient steps. *)
Definition descents_move := forall (losses : nat -> Z -> V -> R) (g : nat -> Z -> V -> V) (mu beta Gam c : R) b T m
    (batch : nat -> seq 'I_k) (eta : nat -> R) (after : nat -> V -> V) start (visited : V -> Prop) s s',
  let run := run g mu b batch eta after start in
  0 <= beta -> 0 <= mu -> (0 < b)%N -> (forall t, 0 <= eta t) -> (forall t, eta t <= c) -> c * (beta + mu) <= 2 ->
  (forall t z, smooth ip beta (losses t z) (g t z)) -> (forall t, uniq (batch t) /\ (size (batch t) <= b)%N) ->
  (forall t x y, norm (after t x - after t y) <= norm (x - y)) -> (forall s t, visited (run s t)) ->
  (forall t z z' w, visited w -> norm (g t z w - g t z' w) <= Gam) ->
  passes batch m -> (0 < T <= m)%N -> neighbours s s' ->
  norm (mean_from 0 T (run s) - mean_from 0 T (run s')) <= Gam * c / b%:R.

Lemma phase_descent : descents_move.
Proof.
move=> losses g mu beta Gam c b T m batch eta after start visited s s' r beta0 mu0 b0 eta0 below small.
move=> smooth_losses batches nonexpansive visits diameter once /andP[T0 Tm] adj.
have m0 := leq_trans T0 Tm.
have [_ _ means _] := B2 beta0 mu0 b0 eta0 smooth_losses batches nonexpansive visits diameter T adj once m0.
apply: (le_trans (means c 0%N below small T0)); rewrite [c * Gam]mulrC -[leRHS]mulr1 ler_wpmul2l //.
  have [i _] := adj; rewrite divr_ge0 ?ler0n // mulr_ge0 //; last exact: le_trans (eta0 0%N) (below 0%N).
  by have := diameter 0%N (s i) (s i) _ (visits s 0%N); rewrite subrr norm0.
have hits0 := hits_at R 0 m0 (leq0n m); have hitsT := hits_at R 0 m0 Tm.
rewrite mul0n !add0n in hits0 hitsT.
by rewrite hits0 hitsT !mul0n !muln0 !mul0r !muln1 !add0r subr0 subn0 divff // pnatr_eq0 -lt0n.
Qed.

End kinds.

(* The page: all that is released by all phases together, and what one row moves in a phase of either kind, in any slice and
   from any start. *)
Theorem K1 (R : realType) (d n : nat) (Z : Type) (loss : Z -> 'rV[R]_d -> R) (C : 'rV[R]_d -> Prop) :
  [/\ forall (epsilon delta : R) d0 (Y : measurableType d0) (M : ('I_n -> Z) -> {measure set Y -> \bar R}) read,
        0 <= delta -> phases d epsilon delta M read -> private epsilon delta M,
      forall k, descents_move (coordinates R d) Z k,
      forall k, minimisers_move (coordinates R d) loss k C &
      forall k, start_is_near (coordinates R d) loss k C].
Proof.
split; [|by move=> k; exact: phase_descent|by move=> k; exact: phase_minimisers|by move=> k; exact: minimiser_around].
move=> epsilon delta d0 Y M read delta0 run; have [deltas parallel below] := phases_parallel delta0 run.
exact: N3_parallel parallel below.
Qed.
