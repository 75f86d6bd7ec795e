(* Descents as released: weights of a run with calibrated noise. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum matrix.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals ereal measure.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Privacy Vectors Laplace Gradients Descents Output.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section noisy_descents.
Variables (R : realType) (d : nat).
Local Notation weights := 'rV[R]_d.
Local Notation ip := (coordinates R d).
Local Notation norm := (norm ip).

(* Whatever moves by at most Delta is hidden: the runs of B1, B3, B4 and C1. *)
Theorem movement_hidden (Z : Type) n (w : ('I_n -> Z) -> weights) noise (Delta epsilon : R) :
  (forall S S', neighbours S S' -> norm (w S - w S') <= Delta) -> calibrated noise Delta epsilon ->
  private epsilon 0 (fun S => shifted noise (w S)).
Proof. by move=> moves noisy S S' adj; apply: (calibrated_hides noisy); exact: moves. Qed.

(* Gradient steps of one length on convex, smooth losses, with noise calibrated to k c Gam/b. *)
Theorem noisy_descent (Z : Type) (loss : nat -> Z -> weights -> R) (g : nat -> Z -> weights -> weights) (n b m k T : nat)
    (batch : nat -> seq 'I_n) (after : nat -> weights -> weights) (start : weights) (mu c beta Gam epsilon : R)
    (visited : weights -> Prop) noise :
  let run := run g mu b batch (fun=> c) after start in
  0 <= beta -> 0 <= mu -> (0 < b)%N -> 0 <= c -> c * (beta + mu) <= 2 ->
  (forall t z, smooth ip beta (loss t z) (g t z)) ->
  (forall t, uniq (batch t) /\ (size (batch t) <= b)%N) ->
  (forall t x y, norm (after t x - after t y) <= norm (x - y)) ->
  (forall S t, visited (run S t)) -> (forall t z z' w, visited w -> norm (g t z w - g t z' w) <= Gam) ->
  passes batch m -> (T <= k * m)%N ->
  calibrated noise (k%:R * c * Gam / b%:R) epsilon ->
  private epsilon 0 (fun S => shifted noise (run S T)).
Proof.
move=> run beta0 mu0 b0 c0 small losses batches nonexpansive visits diameter once Tkm.
apply: movement_hidden => S S' adj.
exact: (B1_constant beta0 mu0 b0 (fun=> c0) losses batches nonexpansive visits diameter adj once Tkm (fun=> erefl) small).
Qed.

End noisy_descents.
