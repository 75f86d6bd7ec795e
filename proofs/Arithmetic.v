(* Real numbers: ring and field normalisation, and the two limits that the proofs take. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Coq Require Export Field.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Coq's `field` finds a structure by the names of its operations, so the operations of a realType get one name each. *)
Section field.
Variable R : realType.

Definition real_zero : R := 0.
Definition real_one : R := 1.
Definition real_add (a b : R) : R := a + b.
Definition real_sub (a b : R) : R := a - b.
Definition real_opp (a : R) : R := - a.
Definition real_mul (a b : R) : R := a * b.
Definition real_inv (a : R) : R := a^-1.
Definition real_div (a b : R) : R := a / b.

Lemma real_field :
  field_theory real_zero real_one real_add real_mul real_sub real_opp real_div real_inv eq.
Proof.
split=> //; last by move=> x /eqP x0; rewrite /real_mul mulVf.
  split=> *; rewrite /real_add /real_zero /real_mul /real_one /real_sub /real_opp;
    rewrite ?add0r ?mul1r ?mulrDl ?subrr //.
  - exact: addrC.
  - exact: addrA.
  - exact: mulrC.
  - exact: mulrA.
by apply/eqP; exact: oner_neq0.
Qed.

Lemma real_two : real_add real_one real_one <> real_zero.
Proof. by apply/eqP; rewrite -[real_add _ _]/(2%:R : R) pnatr_eq0. Qed.

End field.

Ltac name_operations R :=
  rewrite ?exprS ?expr0 ?mulr2n ?mulrS ?mulr0n;
  repeat match goal with
  | |- context [@GRing.zero ?T] => change (@GRing.zero T) with (real_zero R)
  | |- context [@GRing.one ?T] => change (@GRing.one T) with (real_one R)
  | |- context [@GRing.add ?T ?a ?b] => change (@GRing.add T a b) with (@real_add R a b)
  | |- context [@GRing.opp ?T ?a] => change (@GRing.opp T a) with (@real_opp R a)
  | |- context [@GRing.mul ?T ?a ?b] => change (@GRing.mul T a b) with (@real_mul R a b)
  | |- context [@GRing.inv ?T ?a] => change (@GRing.inv T a) with (@real_inv R a)
  end;
  match goal with |- @eq _ ?a ?b => change (@eq (Real.sort R) a b) end.

(* Both need `Add Field` for R in the section where they are used. *)
Ltac real_ring R := name_operations R; ring.
Ltac real_fields R := name_operations R; field; repeat match goal with |- _ /\ _ => split end;
  try exact: real_two.

Section inequalities.
Variable R : realType.
Implicit Types a b x y z t : R.

(* An inequality from others: the difference is a sum of differences with non-negative factors. *)
Lemma le_by1 x y a b : a <= b -> y - x = b - a -> x <= y.
Proof. by rewrite -!(subr_ge0 _ y) -(subr_ge0 a) => ? ->. Qed.

Lemma le_by2 x y a b a' b' : a <= b -> a' <= b' -> y - x = (b - a) + (b' - a') -> x <= y.
Proof.
rewrite -(subr_ge0 x) -(subr_ge0 a) -(subr_ge0 a') => h h' ->; exact: addr_ge0.
Qed.

(* What holds with t z to spare for every small t holds without. *)
Lemma le_limit t0 x y z : 0 < t0 -> (forall t, 0 < t <= t0 -> x <= y + t * z) -> x <= y.
Proof.
move=> t00 h; case: (lerP x y) => // yx; exfalso.
have d0 : 0 < x - y by rewrite subr_gt0.
have z0 : 0 < z.
  rewrite ltNge; apply/negP => z0.
  have : x <= y by apply: le_trans (h t0 _) _; rewrite ?t00 ?lexx // ger_addl pmulr_rle0.
  by rewrite leNgt yx.
pose t := Num.min t0 ((x - y) / (2 * z)).
have tt0 : 0 < t <= t0 by rewrite lt_minr t00 divr_gt0 // ?mulr_gt0 ?ltr0n //= le_minl lexx.
have := h t tt0; rewrite -ler_subl_addl leNgt => /negP; apply.
apply: (@le_lt_trans _ _ ((x - y) / (2 * z) * z)).
  by rewrite ler_pmul2r // le_minl lexx orbT.
rewrite invfM mulrA mulfVK ?gt_eqF //.
by rewrite ltr_pdivr_mulr ?ltr0n // ltr_pmulr // ltr1n.
Qed.

(* A non-negative length that obeys m x^2 <= c x, and c at least 0, is at most c/m. *)
Lemma le_quotient m x c : 0 < m -> 0 <= x -> 0 <= c -> m * x ^+ 2 <= c * x -> x <= c / m.
Proof.
move=> m0; rewrite le_eqVlt => /predU1P[<- c0 _|x0 _]; first by rewrite divr_ge0 // ltW.
by rewrite expr2 mulrA ler_pmul2r // ler_pdivl_mulr // mulrC.
Qed.

Lemma share a b : 0 <= a -> a <= b -> 0 < b -> 0 <= a / b <= 1.
Proof. by move=> a0 ab b0; rewrite (divr_ge0 a0 (ltW b0)) ler_pdivr_mulr // mul1r. Qed.

End inequalities.
