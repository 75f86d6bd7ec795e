(* The conclusion: output perturbation over the reals. A solver's weights, and noise of which one row's share is hidden. *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality mathcomp_extra.
From mathcomp.analysis Require Import reals ereal topology normedtype realfun sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Approximate Groups Privacy Vectors Laplace.

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

Lemma close_weaken d0 (T : measurableType d0) (epsilon epsilon' delta : R) (P Q : {measure set T -> \bar R}) :
  epsilon <= epsilon' -> close epsilon delta P Q -> close epsilon' delta P Q.
Proof.
move=> le PQ E mE; apply: (le_trans (PQ E mE)); apply: lee_add2r; apply: lee_wpmul2r => //.
by rewrite lee_fin ler_expR.
Qed.

(* Noise for a sensitivity: what the laws `spherical_laplace` and `laplace` promise (pages D1 and D2). *)
Definition hides noise (Delta epsilon : R) :=
  forall w w' : weights, norm (w - w') <= Delta -> close epsilon 0 (shifted noise w) (shifted noise w').

Theorem spherical_laplace_hides lambda noise (b c Delta epsilon : R) : translation_invariant lambda ->
  has_density lambda noise (fun k => c * expR (- (norm k / b))) -> 0 < b -> 0 <= c ->
  Delta / b <= epsilon -> hides noise Delta epsilon.
Proof.
by move=> invariant density b0 c0 le w w' near; apply: close_weaken le _; exact: (D1 invariant density b0 c0 near).
Qed.

Theorem laplace_hides lambda noise (b c Delta epsilon : R) : translation_invariant lambda ->
  has_density lambda noise (fun k => c * \prod_i expR (- (`|k 0 i| / b))) -> 0 < b -> 0 <= c ->
  Num.sqrt d%:R * Delta / b <= epsilon -> hides noise Delta epsilon.
Proof.
by move=> invariant density b0 c0 le w w' near; apply: close_weaken le _; exact: (D2 invariant density b0 c0 near).
Qed.

(* What stands in a slot is a row, a row of a class with a count, or a person: any P. *)
Variables (P : Type) (n : nat) (loss : P -> weights -> R) (penalty : weights -> R) (C : weights -> Prop).
Local Notation table := ('I_n -> P).

Definition exact (S : table) w := minimiser C (objective loss penalty S) w.

(* The solver ends within tau/mu of an exact minimiser, whatever the rows (page A4). *)
Definition solves (returned : table -> weights) (tau mu : R) :=
  forall S, exists2 w_S, exact S w_S & norm (returned S - w_S) <= tau / mu.

Lemma release_private returned noise (bound tau mu epsilon : R) :
  (forall S S' w w', neighbours S S' -> exact S w -> exact S' w' -> norm (w - w') <= bound) ->
  solves returned tau mu -> hides noise (bound + 2 * tau / mu) epsilon ->
  private epsilon 0 (fun S => shifted noise (returned S)).
Proof.
move=> stable solved hidden S S' adj; apply: hidden.
have [w_S exactS nearS] := solved S; have [w_S' exactS' nearS'] := solved S'.
by apply: A4 nearS nearS'; exact: stable adj exactS exactS'.
Qed.

End output.

Section released.
Variables (R : realType) (d n : nat).
Local Notation weights := 'rV[R]_d.
Local Notation ip := (coordinates R d).
Local Notation norm := (norm ip).
Variables (Z : Type) (loss : Z -> weights -> R) (G : Z -> weights -> weights -> Prop).
Variables (penalty : weights -> R) (C D : weights -> Prop) (Gam mu tau epsilon : R).
Variables (lambda noise : {measure set (vectors R d) -> \bar R}) (b c : R).

(* Public facts: convex rows with gradient diameter Gam where minimisers lie, a mu-strongly convex penalty. *)
Hypothesis mu_gt0 : 0 < mu.
Hypothesis rows : rows_as_in_A2 ip loss G penalty C D Gam mu.
(* Noise with the density c exp(-||k||/b), at the scale that hides the sensitivity. *)
Hypothesis invariant : translation_invariant lambda.
Hypothesis density : has_density lambda noise (fun k => c * expR (- (norm k / b))).
Hypothesis b_gt0 : 0 < b.
Hypothesis c_ge0 : 0 <= c.
Hypothesis scale : (Gam / (n%:R * mu) + 2 * tau / mu) / b <= epsilon.

Let hidden : hides noise (Gam / (n%:R * mu) + 2 * tau / mu) epsilon.
Proof. exact: spherical_laplace_hides invariant density b_gt0 c_ge0 scale. Qed.

(* Output perturbation as released, for rows: A2, A4, D1 and post-processing by any measurable f, as one theorem. *)
Theorem output_perturbation (returned : ('I_n -> Z) -> weights) d0 (T : measurableType d0)
    (f : vectors R d -> T) (mf : measurable_fun setT f) :
  (forall S x, exact loss penalty C (n := n) S x -> D x) -> solves loss penalty C returned tau mu ->
  private epsilon 0 (fun S => [the measure _ _ of pushforward (shifted noise (returned S)) mf]).
Proof.
move=> inD solved; apply: N3_function.
apply: release_private solved hidden => S S' w w' adj minw minw'.
have [convexC convexl convexr slope diameter] := rows.
by apply: (A2 adj mu_gt0 convexC (objective_convex S convexl convexr) slope diameter inD).
Qed.

(* The same for all rows of a person (N1) and for classes with counts of at most 1 (N2). *)
Hypothesis origin : forall x, D x -> exists z, G z x 0.

Theorem output_perturbation_persons k_max (returned : ('I_n -> seq Z) -> weights) d0 (T : measurableType d0)
    (f : vectors R d -> T) (mf : measurable_fun setT f) :
  (forall S x, exact (person_loss loss k_max) penalty C (n := n) S x -> D x) ->
  solves (person_loss loss k_max) penalty C returned tau mu ->
  private epsilon 0 (fun S => [the measure _ _ of pushforward (shifted noise (returned S)) mf]).
Proof.
move=> inD solved; apply: N3_function.
apply: release_private solved hidden => S S' w w' adj minw minw'.
exact: (N1 adj mu_gt0 rows origin inD minw minw').
Qed.

Theorem output_perturbation_class_weights (count : Z -> R) (returned : ('I_n -> Z) -> weights)
    d0 (T : measurableType d0) (f : vectors R d -> T) (mf : measurable_fun setT f) :
  (forall z, 0 <= count z <= 1) ->
  (forall S x, exact (fun z x => count z * loss z x) penalty C (n := n) S x -> D x) ->
  solves (fun z x => count z * loss z x) penalty C returned tau mu ->
  private epsilon 0 (fun S => [the measure _ _ of pushforward (shifted noise (returned S)) mf]).
Proof.
move=> count01 inD solved; apply: N3_function.
apply: release_private solved hidden => S S' w w' adj minw minw'.
exact: (N2 count01 adj mu_gt0 rows origin inD minw minw').
Qed.

End released.
