(* R^d as a measurable space: the sigma-algebra that its coordinates generate. *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality mathcomp_extra.
From mathcomp.analysis Require Import reals ereal topology normedtype realfun sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section vectors.
Variables (R : realType) (d : nat).

Definition cylinders : set (set 'rV[R]_d) :=
  [set A | exists i (B : set R), measurable B /\ A = (fun x : 'rV[R]_d => x 0 i) @^-1` B].

Definition vectors := [the measurableType _ of salgebraType cylinders].

Lemma measurable_coordinate i : measurable_fun setT (fun x : vectors => (x : 'rV[R]_d) 0 i).
Proof.
move=> _ B mB; rewrite setTI; apply: sub_sigma_algebra.
by exists i, B.
Qed.

(* A vector is measurable as soon as its coordinates are. *)
Lemma measurable_vector d0 (T : measurableType d0) (f : T -> vectors) :
  (forall i, measurable_fun setT (fun x => (f x : 'rV[R]_d) 0 i)) -> measurable_fun setT f.
Proof.
move=> mf; apply: (@measurability _ _ T vectors setT f cylinders) => //.
move=> _ [_ [i [B [mB ->]]] <-]; have := mf i measurableT _ mB.
by rewrite setTI.
Qed.

Lemma measurable_sum d0 (T : measurableType d0) (f : 'I_d -> T -> R) :
  (forall i, measurable_fun setT (f i)) -> measurable_fun setT (fun x => \sum_i f i x).
Proof.
move=> mf; elim: (index_enum _) => [|i s IH].
  by under eq_fun do rewrite big_nil; exact: measurable_fun_cst.
by under eq_fun do rewrite big_cons; exact: measurable_funD.
Qed.

Lemma measurable_norm : measurable_fun setT (fun x : vectors => norm (coordinates R d) x).
Proof.
rewrite (_ : (fun x => _) = Num.sqrt \o (fun x : vectors => coordinate_dot x x)) //.
apply: measurable_fun_comp; first by apply: continuous_measurable_fun; exact: sqrt_continuous.
by apply: measurable_sum => i; apply: measurable_funM; exact: measurable_coordinate.
Qed.

Lemma measurable_translation (w : 'rV[R]_d) : measurable_fun setT (fun x : vectors => (x + w : vectors)).
Proof.
apply: measurable_vector => i; under eq_fun do rewrite mxE.
by apply: measurable_funD; [exact: measurable_coordinate|exact: measurable_fun_cst].
Qed.

End vectors.
