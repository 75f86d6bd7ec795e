(* Pages N1, part 4, and N2: descents on slots. What B1, B3 and B4 ask of rows holds of persons and of rows with counts;
   and from one place to one person, by a secret order of places. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum fingroup perm matrix.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals ereal sequences measure exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Gradients Descents Groups Privacy Vectors Laplace.
From Equipoise Require Import Output NoisyDescents.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section slots.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Variables (Z : Type) (loss : Z -> V -> R) (gradient : Z -> V -> V) (beta Gam : R) (visited : V -> Prop).
Implicit Types (g : seq (R * Z)) (w v : V).
Add Field reals : (real_field R).
Local Notation norm := (norm ip).

(* What rows in a slot step along. *)
Definition group_gradient g w : V := \sum_(c <- g) c.1 *: gradient c.2 w.

Hypotheses (beta0 : 0 <= beta) (rows : forall z, smooth ip beta (loss z) (gradient z)).
Hypothesis diameter : forall z z' w, visited w -> norm (gradient z w - gradient z' w) <= Gam.
Hypothesis origin : forall w, visited w -> exists z, gradient z w = 0.

Lemma group_smooth g : admissible g -> smooth ip beta (group_loss loss g) (group_gradient g).
Proof.
move=> /andP[g0 g1]; split=> [w|w v].
  split=> // v _; rewrite /group_loss /group_gradient dot_suml.
  elim: g g0 {g1} => [|c g IH /= /andP[c0 g0]]; first by rewrite !big_nil addr0.
  have [_ /(_ v I) below] := (rows c.2).1 w; have h := ler_add (ler_wpmul2l c0 below) (IH g0).
  rewrite !big_cons dotZl; apply: (@le_by1 _ _ _ _ _ h).
  by set a1 := \sum_(j <- g) _; set a2 := \sum_(j <- g) _; set a3 := \sum_(j <- g) _; real_ring R.
set D := beta * norm (w - v); have D0 : 0 <= D by rewrite mulr_ge0 ?norm_ge0.
apply: (@le_trans _ _ (total g * D)); last by rewrite ler_pimull.
elim: g g0 {g1} => [_|c g IH /= /andP[c0 g0]]; first by rewrite /group_gradient !big_nil subrr norm0 /total big_nil mul0r.
rewrite /group_gradient !big_cons -!/(group_gradient g _) /total big_cons -/(total g) mulrDl opprD addrACA -scalerBr.
apply: (le_trans (norm_triangle _ _ _)); apply: ler_add; last exact: IH.
by rewrite normZ ger0_norm // ler_wpmul2l //; exact: (rows c.2).2.
Qed.

Lemma group_hit g g' w : admissible g -> admissible g' -> visited w ->
  norm (group_gradient g w - group_gradient g' w) <= Gam.
Proof.
have in_hull h : group_slopes (fun z w s => s = gradient z w) h w (group_gradient h w).
  elim: h => [|c h IH]; first by rewrite /= /group_gradient big_nil.
  by exists (gradient c.2 w), (group_gradient h w); split=> //; rewrite /group_gradient big_cons.
move=> ag ag' seen; apply: (group_diameter ag ag') (in_hull g) (in_hull g') => [z z' s s' -> ->|]; first exact: diameter.
by have [z <-] := origin seen; exists z.
Qed.

(* B1, B3 and B4 take any kind of slot whose loss and gradient are such: persons and counts included. *)
Theorem slots_descend (P : Type) (shares : P -> seq (R * Z)) : (forall p, admissible (shares p)) ->
  (forall p, smooth ip beta (group_loss loss (shares p)) (group_gradient (shares p))) /\
  (forall p p' w, visited w -> norm (group_gradient (shares p) w - group_gradient (shares p') w) <= Gam).
Proof. by move=> adm; split=> [p|p p' w]; [exact: group_smooth|exact: group_hit]. Qed.

End slots.

(* Slots are dealt to places by an order that nobody sees, every order equally likely. *)
Section places.
Local Open Scope ereal_scope.
Variables (R : realType) (d : measure_display) (T : measurableType d) (P : Type) (n : nat).
Variable (M : ('I_n -> P) -> {measure set T -> \bar R}).
Implicit Types (S : 'I_n -> P) (s r : {perm 'I_n}).

Definition dealt S (E : set T) : \bar R := ((#|{perm 'I_n}|%:R)^-1)%:E * \sum_(s : {perm 'I_n}) M (S \o s) E.

(* The tables differ in one slot, after the slots of one are numbered anew. *)
Theorem secret_places (epsilon delta : R) S S' r : private epsilon delta M -> neighbours (S \o r) S' ->
  close epsilon delta (dealt S) (dealt S').
Proof.
move=> priv adj E mE; rewrite /dealt; set N := #|{perm 'I_n}|.
have N0 : (0 < N%:R :> R)%R by rewrite ltr0n /N; apply/card_gt0P; exists 1%g.
rewrite (reindex_inj (mulIg r)) /=.
have each s : M (S \o (s * r)%g) E <= (expR epsilon)%:E * M (S' \o s) E + delta%:E.
  apply: priv mE; case: adj => i same; exists (s^-1%g i) => j ji.
  rewrite /= permM; apply: (same (s j)); apply: contra ji => /eqP <-.
  by rewrite permK.
apply: (@le_trans _ _ ((N%:R^-1)%:E * \sum_(s : {perm 'I_n}) ((expR epsilon)%:E * M (S' \o s) E + delta%:E))).
  by rewrite lee_pmul2l ?lte_fin ?invr_gt0 //; apply: lee_sum => s _; exact: each.
rewrite big_split /= -ge0_sume_distrr; last by move=> s _; exact: measure_ge0.
rewrite sumEFin sumr_const -/N -[(delta *+ N)%R]mulr_natl.
have sum0 : 0 <= \sum_(s : {perm 'I_n}) M (S' \o s) E by apply: sume_ge0 => s _; exact: measure_ge0.
have e0 : 0 <= (expR epsilon)%:E by rewrite lee_fin ltW // expR_gt0.
rewrite muleDr //; last exact: fin_num_adde_def.
by rewrite muleCA -EFinM mulrA mulVf ?gt_eqF // mul1r.
Qed.

End places.

(* Both together: B1's descent on persons in secret places, with noise calibrated to k c Gam/b. *)
Section private_descent.
Variables (R : realType) (d : nat).
Local Notation weights := 'rV[R]_d.
Local Notation ip := (coordinates R d).
Local Notation norm := (norm ip).

Theorem noisy_descent_persons (Z : Type) (loss : Z -> weights -> R) (gradient : Z -> weights -> weights)
    (k_max n b m k T : nat) (batch : nat -> seq 'I_n) (after : nat -> weights -> weights) (start : weights)
    (mu c beta Gam epsilon : R) (visited : weights -> Prop) noise :
  let step := fun p => group_gradient gradient (person_shares R k_max p) in
  let run := run (fun=> step) mu b batch (fun=> c) after start in
  0 <= beta -> 0 <= mu -> (0 < b)%N -> 0 <= c -> c * (beta + mu) <= 2 ->
  (forall z, smooth ip beta (loss z) (gradient z)) ->
  (forall t, uniq (batch t) /\ (size (batch t) <= b)%N) ->
  (forall t x y, norm (after t x - after t y) <= norm (x - y)) ->
  (forall S t, visited (run S t)) -> (forall z z' w, visited w -> norm (gradient z w - gradient z' w) <= Gam) ->
  (forall w, visited w -> exists z, gradient z w = 0) ->
  passes batch m -> (T <= k * m)%N -> calibrated noise (k%:R * c * Gam / b%:R) epsilon ->
  forall (S S' : 'I_n -> seq Z) (r : {perm 'I_n}), neighbours (S \o r) S' ->
  close epsilon 0 (dealt (fun S => shifted noise (run S T)) S) (dealt (fun S => shifted noise (run S T)) S').
Proof.
move=> step run beta0 mu0 b0 c0 small losses batches nonexpansive visits diameter origin once Tkm hidden S S' r adj.
have [smooths hits] := slots_descend beta0 losses diameter origin (person_admissible R k_max (Z := Z)).
apply: secret_places adj.
exact: (noisy_descent beta0 mu0 b0 c0 small (fun=> smooths) batches nonexpansive visits (fun=> hits) once Tkm hidden).
Qed.

End private_descent.
