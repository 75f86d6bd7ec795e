(* Page B2: means of the weights of a run move no further than the mean of their bounds. `run S t` are the weights after
   t steps. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals sequences exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Gradients Descents Exponentials.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* ceil(t/m): the passes that have begun in t steps. *)
Definition begun (m t : nat) : nat := if t is s.+1 then (s %/ m).+1 else 0%N.

Section sums.
Variable R : realType.
Implicit Types (m t s k a j : nat).
Add Field reals : (real_field R).

Lemma begun_covers m t : (0 < m)%N -> (t <= begun m t * m)%N.
Proof. by case: t => //= s m0; rewrite ltn_ceil. Qed.

(* The sum of ceil(t/m) for t = 1, ..., T: whole passes, and the rest of one. *)
Definition hits m T : R := (m * (T %/ m * (T %/ m).+1))%:R / 2 + (T %% m * (T %/ m).+1)%:R.

Lemma hits_at m w r : (0 < m)%N -> (r <= m)%N ->
  hits m (w * m + r) = (m * (w * w.+1))%:R / 2 + (r * w.+1)%:R.
Proof.
move=> m0; rewrite leq_eqVlt => /predU1P[->|rm]; rewrite /hits.
  rewrite addnC -mulSn mulnK // modnMl mul0n addr0 !natrM -(addn1 w) -(addn1 (w + 1)) !natrD.
  by real_fields R.
by rewrite divnMDl // divn_small // addn0 modnMDl modn_small.
Qed.

Lemma hits_sum m s T : (0 < m)%N -> (s <= T)%N ->
  \sum_(s <= t < T) (begun m t.+1)%:R = hits m T - hits m s.
Proof.
move=> m0 sT; rewrite (eq_bigr (fun t => hits m t.+1 - hits m t)); last first.
  move=> t _; have rm := ltn_pmod t m0; rewrite /begun; set w := (t %/ m)%N; set r := (t %% m)%N in rm *.
  rewrite (divn_eq t m) -/w -/r -addnS !hits_at // 1?ltnW //.
  by rewrite mulSn natrD; real_ring R.
by rewrite telescope_sumr.
Qed.

(* 1/(t + 1) + ... + 1/(t + m) <= ln((t + m)/t). *)
Lemma reciprocal_below a : (0 < a)%N -> a.+1%:R^-1 <= ln a.+1%:R - ln a%:R :> R.
Proof.
move=> a0; have a0' : (0 : R) < a%:R by rewrite ltr0n.
have a1 : (0 : R) < a.+1%:R by rewrite ltr0n.
rewrite -ln_div ?posrE // -[_^-1]expK ler_ln ?posrE ?expR_gt0 ?divr_gt0 //.
have tangent := expR_tangent0 (- a.+1%:R^-1 : R).
have share : 1 - a.+1%:R^-1 = a%:R / a.+1%:R :> R.
  by apply: (mulIf (lt0r_neq0 a1)); rewrite mulrBl mulVf ?mulfVK ?gt_eqF // mul1r -addn1 natrD addrK.
rewrite share expRN in tangent.
by rewrite -[leRHS]invf_div -(invrK (expR _)) lef_pinv // posrE ?divr_gt0 ?invr_gt0 ?expR_gt0.
Qed.

Lemma reciprocals_below a m : (0 < a)%N -> \sum_(0 <= j < m) (a + j).+1%:R^-1 <= ln (a + m)%:R - ln a%:R :> R.
Proof.
move=> a0; elim: m => [|m IH]; first by rewrite big_geq // addn0 subrr.
have next := @reciprocal_below (a + m) (ltn_addr _ a0).
by rewrite big_nat_recr //= addnS -(subrKA (ln (a + m)%:R)) addrC ler_add.
Qed.

(* ceil(t/m)/t for t = 1, ..., T: pass by pass. *)
Definition harmonic m k : R := 1 + ln m%:R + \sum_(2 <= e < k.+1) e%:R * ln (e%:R / e.-1%:R).

Lemma harmonic_passes m k : (0 < m)%N ->
  \sum_(0 <= t < k.+1 * m) (begun m t.+1)%:R / t.+1%:R <= harmonic m k.+1.
Proof.
move=> m0; have term k' j : (j < m)%N ->
    (begun m (k' * m + j).+1)%:R / (k' * m + j).+1%:R = k'.+1%:R * (k' * m + j).+1%:R^-1 :> R.
  by move=> jm; rewrite /begun divnMDl // divn_small // addn0.
elim: k => [|k IH].
  rewrite mul1n /harmonic [X in _ + X]big_geq // addr0 (eq_big_nat _ _ (F2 := fun t => t.+1%:R^-1)); last first.
    by move=> t /andP[_ tm]; have := term 0%N t tm; rewrite mul0n add0n mul1r.
  rewrite -{1}(prednK m0) big_nat_recl // invr1; apply: ler_add => //.
  have := @reciprocals_below 1 m.-1 isT; rewrite ln1 subr0 add1n (prednK m0).
  by apply: le_trans; rewrite le_eqVlt; apply/orP; left; apply/eqP/eq_bigr => j _; rewrite add1n.
rewrite (@big_cat_nat _ _ _ (k.+1 * m)) //=; last by rewrite leq_mul2r leqnSn orbT.
have -> : harmonic m k.+2 = harmonic m k.+1 + k.+2%:R * ln (k.+2%:R / k.+1%:R).
  by rewrite /harmonic [in LHS]big_nat_recr //= addrA.
apply: ler_add => //; rewrite -{1}[(k.+1 * m)%N]add0n big_addn -mulnBl subSnn mul1n.
rewrite (eq_big_nat _ _ (F2 := fun j => k.+2%:R * (k.+1 * m + j).+1%:R^-1)); last first.
  by move=> j /andP[_ jm]; rewrite addnC term.
rewrite -mulr_sumr ler_wpmul2l ?ler0n //.
have km : (0 < k.+1 * m)%N by rewrite muln_gt0.
apply: (le_trans (@reciprocals_below _ m km)).
have m' : (0 : R) < m%:R by rewrite ltr0n.
rewrite -mulSnr -ln_div ?posrE ?ltr0n ?muln_gt0 // le_eqVlt; apply/orP; left; apply/eqP; congr ln.
by rewrite !natrM invfM mulrACA divff ?mulr1 // gt_eqF.
Qed.

Lemma harmonic_bounds m T : (0 < m)%N -> (0 < T)%N ->
  \sum_(0 <= t < T) (begun m t.+1)%:R / t.+1%:R <= harmonic m (begun m T).
Proof.
move=> m0; case: T => // T _; apply: (le_trans _ (harmonic_passes _ m0)).
rewrite (@big_cat_nat _ _ _ T.+1 0 ((T %/ m).+1 * m)) //=; last by rewrite ltn_ceil.
by rewrite ler_addl sumr_ge0 // => t _; rewrite divr_ge0 ?ler0n.
Qed.

(* Over the last half. *)
Lemma late_below m s T t : (0 < m)%N -> (0 < T)%N -> (T < 2 * s.+1)%N -> (s <= t)%N ->
  (begun m t.+1)%:R / t.+1%:R <= m%:R^-1 + 2 / T%:R :> R.
Proof.
move=> m0 T0 late st; rewrite /begun; set w := (t %/ m)%N.
have m' : (0 : R) < m%:R by rewrite ltr0n.
have t' : (0 : R) < t.+1%:R by rewrite ltr0n.
have T' : t.+1%:R^-1 <= 2 / T%:R :> R.
  rewrite ler_pdivl_mulr ?ltr0n // mulrC ler_pdivr_mulr // -natrM ler_nat.
  by apply: leq_trans (ltnW late) _; rewrite leq_mul2l ltnS st.
apply: le_trans (ler_add (lexx _) T').
rewrite ler_pdivr_mulr // mulrDl mulVf ?gt_eqF // -[in leLHS]addn1 natrD ler_add2r.
rewrite mulrC ler_pdivl_mulr // -natrM ler_nat; apply: leq_trans (leqnSn t); exact: leq_trunc_div.
Qed.

End sums.

(* Means of two runs, w and w', of whatever kind: any public mean, and that of the weights after the steps s + 1, ..., T,
   which is all of them for s = 0 and the last half for s = ceil(T/2). *)
Section means.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Local Notation norm := (norm ip).
Implicit Types (w : nat -> V) (weight far : nat -> R) (s t T : nat).

Definition mean weight T w : V := \sum_(t < T.+1) weight t *: w t.
Definition mean_from s T w : V := (T - s)%:R^-1 *: \sum_(s <= t < T) w t.+1.

Lemma mean_moves w w' T weight far : (forall t, 0 <= weight t) -> (forall t, (t <= T)%N -> norm (w t - w' t) <= far t) ->
  norm (mean weight T w - mean weight T w') <= \sum_(t < T.+1) weight t * far t.
Proof.
move=> weight0 near; rewrite /mean -sumrB; apply: (le_trans (norm_sum _ _ _ _)); apply: ler_sum => t _.
rewrite -scalerBr normZ ger0_norm //; apply: ler_wpmul2l => //.
by apply: near; rewrite -ltnS.
Qed.

Lemma mean_from_moves w w' s T far (F : R) : (s < T)%N ->
  (forall t, (s <= t < T)%N -> norm (w t.+1 - w' t.+1) <= far t) ->
  \sum_(s <= t < T) far t <= F -> norm (mean_from s T w - mean_from s T w') <= F / (T - s)%:R.
Proof.
move=> sT near below; rewrite /mean_from -scalerBr -sumrB normZ ger0_norm ?invr_ge0 ?ler0n // mulrC.
rewrite ler_wpmul2r ?invr_ge0 ?ler0n //; apply: le_trans below; apply: (le_trans (norm_sum _ _ _ _)).
by rewrite big_nat_cond [leRHS]big_nat_cond; apply: ler_sum => t; rewrite andbT => /near.
Qed.

End means.

Section runs.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Local Notation norm := (norm ip).
Add Field reals' : (real_field R).

(* The runs of B1 and B4. *)
Variables (Z : Type) (loss : nat -> Z -> V -> R) (g : nat -> Z -> V -> V) (mu : R).
Variables (n b : nat) (batch : nat -> seq 'I_n) (eta : nat -> R) (after : nat -> V -> V) (start : V).
Implicit Types (S : 'I_n -> Z) (t T m s : nat) (weight far : nat -> R) (c step : R).
Local Notation run := (run g mu b batch eta after start).
Local Notation passes := (passes batch).

Variables (beta Gam : R) (visited : V -> Prop).
Hypotheses (beta0 : 0 <= beta) (mu0 : 0 <= mu) (b0 : (0 < b)%N) (eta0 : forall t, 0 <= eta t).
Hypothesis (smooth_losses : forall t z, smooth ip beta (loss t z) (g t z)).
Hypothesis (batches : forall t, uniq (batch t) /\ (size (batch t) <= b)%N).
Hypothesis (nonexpansive : forall t x y, norm (after t x - after t y) <= norm (x - y)).
Hypothesis (visits : forall S t, visited (run S t)).
Hypothesis (diameter : forall t z z' w, visited w -> norm (g t z w - g t z' w) <= Gam).

Let Gam0 S : 'I_n -> 0 <= Gam.
Proof.
by move=> i; have := @diameter 0%N (S i) (S i) _ (visits S 0%N); rewrite subrr norm0.
Qed.

Let B1_at S S' m c t : neighbours S S' -> passes m -> (0 < m)%N -> (forall t, eta t <= c) -> c * (beta + mu) <= 2 ->
  norm (run S t - run S' t) <= c * Gam / b%:R * (begun m t)%:R.
Proof.
move=> adj once m0 below small.
have c0 : 0 <= c by exact: le_trans (eta0 0%N) (below 0%N).
have -> : c * Gam / b%:R * (begun m t)%:R = Gam / b%:R * \sum_(e < begun m t) c.
  rewrite sumr_const card_ord -[c *+ _]mulr_natl.
  by move: (b%:R : R) ((begun m t)%:R : R) => x y; real_ring R.
apply: (B1 beta0 mu0 b0 eta0 smooth_losses batches nonexpansive visits diameter adj once (begun_covers t m0)) => //.
by move=> s _; apply: le_trans small; rewrite ler_wpmul2r ?addr_ge0.
Qed.

Let B4_at S S' m step t : neighbours S S' -> passes m -> (0 < m)%N -> 0 < step -> 0 < mu -> step * (beta + mu) <= 3 / 2 ->
  (forall t, eta t = Num.min step (mu * t.+1%:R)^-1) ->
  norm (run S t.+1 - run S' t.+1) <= Gam / (b%:R * mu) * ((begun m t.+1)%:R / t.+1%:R).
Proof.
move=> adj once m0 step0 ridge small steps.
have covers := begun_covers t.+1 m0.
have last := B4_checked beta0 mu0 b0 eta0 smooth_losses batches nonexpansive visits diameter adj once (ltn0Sn t) covers
  step0 ridge small steps.
apply: (le_trans last); rewrite le_eqVlt; apply/orP; left; apply/eqP.
by move: (b%:R : R) (t.+1%:R : R) ((begun m t.+1)%:R : R) => x y z; rewrite !invfM; real_ring R.
Qed.

(* The page. The mean of any two runs moves by the mean of their bounds; of B1's runs, whose steps are at most c, and of B4's
   it follows for the means that are taken. (B3 has its own.) *)
Theorem B2 S S' m T : neighbours S S' -> passes m -> (0 < m)%N ->
  [/\ forall (w w' : nat -> V) weight far, (forall t, 0 <= weight t) ->
        (forall t, (t <= T)%N -> norm (w t - w' t) <= far t) ->
        norm (mean weight T w - mean weight T w') <= \sum_(t < T.+1) weight t * far t,
      forall c weight, (forall t, eta t <= c) -> c * (beta + mu) <= 2 -> (forall t, 0 <= weight t) ->
        norm (mean weight T (run S) - mean weight T (run S')) <=
          c * Gam / b%:R * \sum_(t < T.+1) weight t * (begun m t)%:R,
      forall c s, (forall t, eta t <= c) -> c * (beta + mu) <= 2 -> (s < T)%N ->
        norm (mean_from s T (run S) - mean_from s T (run S')) <=
          c * Gam / b%:R * ((hits R m T - hits R m s) / (T - s)%:R) &
      forall step, 0 < step -> 0 < mu -> step * (beta + mu) <= 3 / 2 ->
        (forall t, eta t = Num.min step (mu * t.+1%:R)^-1) ->
        ((0 < T)%N -> norm (mean_from 0 T (run S) - mean_from 0 T (run S')) <=
          Gam / (b%:R * mu) * harmonic R m (begun m T) / T%:R) /\
        forall s, (s < T)%N -> (T < 2 * s.+1)%N ->
          norm (mean_from s T (run S) - mean_from s T (run S')) <= Gam / (b%:R * mu) * (m%:R^-1 + 2 / T%:R)].
Proof.
move=> adj once m0; split.
- by move=> w w' weight far; exact: mean_moves.
- move=> c weight below small weight0; rewrite mulr_sumr.
  rewrite (eq_bigr (fun t : 'I_T.+1 => weight t * (c * Gam / b%:R * (begun m t)%:R))); last by move=> t _; rewrite mulrCA.
  by apply: (mean_moves (far := fun t => c * Gam / b%:R * (begun m t)%:R)) => // t _; exact: (B1_at _ adj once m0 below small).
- move=> c s below small sT; rewrite mulrA.
  apply: (mean_from_moves (far := fun t => c * Gam / b%:R * (begun m t.+1)%:R)) => //.
    by move=> t _; exact: (B1_at _ adj once m0 below small).
  by rewrite -mulr_sumr hits_sum // ltnW.
- move=> step step0 ridge small steps.
  have factor0 : 0 <= Gam / (b%:R * mu).
    by have [i _] := adj; rewrite divr_ge0 ?(Gam0 S i) // mulr_ge0 ?ler0n.
  split=> [T0|s sT late].
    rewrite -[X in _ / X%:R]subn0.
    apply: (mean_from_moves (far := fun t => Gam / (b%:R * mu) * ((begun m t.+1)%:R / t.+1%:R))) => //.
      by move=> t _; exact: (B4_at t adj once m0 step0 ridge small steps).
    by rewrite -mulr_sumr ler_wpmul2l // harmonic_bounds.
  have T0 : (0 < T)%N by exact: leq_ltn_trans sT.
  have left0 : (T - s)%:R != 0 :> R by rewrite pnatr_eq0 subn_eq0 -ltnNge.
  rewrite -[leRHS](mulfK left0).
  apply: (mean_from_moves (far := fun t => Gam / (b%:R * mu) * ((begun m t.+1)%:R / t.+1%:R))) => //.
    by move=> t _; exact: (B4_at t adj once m0 step0 ridge small steps).
  rewrite -mulr_sumr -[leRHS]mulrA ler_wpmul2l //.
  rewrite mulr_natr -sumr_const_nat big_nat_cond [leRHS]big_nat_cond; apply: ler_sum => t; rewrite andbT => /andP[st _].
  exact: late_below st.
Qed.


End runs.
