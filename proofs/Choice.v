(* Pages E5 and Q1: the largest noisy score, with Gumbel and with exponential noise. *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality mathcomp_extra.
From mathcomp.analysis Require Import reals ereal topology normedtype realfun sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Privacy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section measurable.
Context (R : realType) d (Y : measurableType d).

Lemma measurable_inverse (W : Y -> R) : (forall y, 0 < W y) -> measurable_fun setT W ->
  measurable_fun setT (fun y => (W y)^-1).
Proof.
move=> W0 mW mD; apply: (measurability (RGenOInfty.measurableE R)) => //.
move=> _ [_ [t ->] <-]; rewrite setTI.
have -> : (fun y => (W y)^-1) @^-1` `]t, +oo[ = (fun y => t * W y) @^-1` `]-oo, 1[.
  apply/seteqP; split=> y /=; rewrite !in_itv /= andbT -ltr_pdivl_mulr ?W0 // mul1r; exact: id.
by have := measurable_funrM t mW measurableT (measurable_itv `]-oo, (1 : R)[); rewrite setTI.
Qed.

Lemma measurable_exponential (f : Y -> R) : measurable_fun setT f -> measurable_fun setT (fun y => expR (f y)).
Proof.
by move=> mf; apply: measurable_fun_comp => //; apply: continuous_measurable_fun; exact: continuous_expR.
Qed.

End measurable.

(* E5: one of m candidates, with probability proportional to exp(score/lambda). *)
Section choice.
Variables (R : realType) (lambda : R) (m : nat).
Implicit Types (s : nat -> R) (i : nat).

Definition weight s := \sum_(k < m) expR (s k / lambda).
Definition chosen s i := expR (s i / lambda) * (weight s)^-1.

Hypotheses (lambda0 : 0 < lambda) (m0 : (0 < m)%N).

Lemma weight_gt0 s : 0 < weight s.
Proof.
rewrite /weight (bigD1 (Ordinal m0)) //= ltr_paddr ?expR_gt0 // sumr_ge0 // => k _; exact/ltW/expR_gt0.
Qed.

Lemma chosen_ge0 s i : 0 <= chosen s i.
Proof. by rewrite mulr_ge0 ?invr_ge0 // ltW ?weight_gt0 ?expR_gt0. Qed.

Lemma chosen_sum s : \sum_(i < m) chosen s i = 1.
Proof. by rewrite -mulr_suml divff // gt_eqF // weight_gt0. Qed.

(* Scores that move by at most M each. *)
Theorem E5_choice s s' (M epsilon : R) i : (forall k, `|s k - s' k| <= M) -> 2 * M <= epsilon * lambda ->
  chosen s i <= expR epsilon * chosen s' i.
Proof.
move=> close scale.
have half (k : nat) (t t' : nat -> R) : `|t k - t' k| <= M -> expR (t k / lambda) <= expR (epsilon / 2) * expR (t' k / lambda).
  move=> le; rewrite -expRD ler_expR -ler_subl_addr -mulrBl ler_pdivr_mulr // mulrAC.
  by rewrite ler_pdivl_mulr ?ltr0n // [X in X <= _]mulrC (le_trans _ scale) // ler_wpmul2l ?ler0n // (le_trans (ler_norm _)).
have up := half i s s' (close i).
have down : weight s' <= expR (epsilon / 2) * weight s.
  by rewrite mulr_sumr; apply: ler_sum => k _; apply: half; rewrite distrC.
have two : expR epsilon = expR (epsilon / 2) * expR (epsilon / 2).
  by rewrite -expRD -splitr.
have W := weight_gt0 s; have W' := weight_gt0 s'.
have inverse : (weight s)^-1 <= expR (epsilon / 2) * (weight s')^-1.
  by rewrite ler_pdivl_mulr // mulrC ler_pdivr_mulr.
by rewrite /chosen two mulrACA; apply: ler_pmul => //; [exact/ltW/expR_gt0|rewrite invr_ge0 ltW].
Qed.

(* The law of the choice, on the numbers of the candidates. *)
Definition choice_law s : {measure set nat -> \bar R} :=
  [the measure _ _ of msum (fun i => [the measure _ _ of mscale (NngNum (chosen_ge0 s i)) (dirac i)]) m].

Lemma choice_lawE s (E : set nat) : choice_law s E = (\sum_(i < m) chosen s i * \1_E (i : nat))%:E.
Proof. by rewrite /= /msum /mscale /dirac /= -sumEFin; apply: eq_bigr => i _; rewrite EFinM. Qed.

Lemma choice_close s s' (M epsilon : R) : (forall k, `|s k - s' k| <= M) -> 2 * M <= epsilon * lambda ->
  close epsilon 0 (choice_law s) (choice_law s').
Proof.
move=> near scale E _; have ratio : \sum_(i < m) chosen s i * \1_E (i : nat) <=
    expR epsilon * \sum_(i < m) chosen s' i * \1_E (i : nat).
  rewrite mulr_sumr; apply: ler_sum => i _; rewrite mulrA ler_wpmul2r //.
  exact: (E5_choice i near scale).
move: ratio; rewrite -lee_fin EFinM -(choice_lawE s E) -(choice_lawE s' E) => ratio.
by rewrite adde0.
Qed.

Context d (Y : measurableType d).
Variables (scores : nat -> Y -> R) (mscores : forall i, measurable_fun setT (scores i)).

Definition choice_kernel : kernel R Y [the measurableType _ of (nat : Type)].
Proof.
apply: (@Kernel _ _ _ _ _ (fun y => choice_law (scores ^~ y))) => [y|E _].
  rewrite (choice_lawE (scores ^~ y) setT) (eq_bigr (fun i : 'I_m => chosen (scores ^~ y) i)) ?chosen_sum // => i _.
  by rewrite indicT mulr1.
have -> : (fun y => choice_law (scores ^~ y) E) =
    (fun y => \sum_(i < m) (chosen (scores ^~ y) i * \1_E (i : nat))%:E)%E.
  by apply/funext => y; rewrite (choice_lawE (scores ^~ y) E) sumEFin.
have mexp i : measurable_fun setT (fun y => expR (scores i y / lambda)).
  apply: measurable_exponential; under eq_fun do rewrite mulrC; exact: measurable_funrM.
apply: emeasurable_fun_sum => i; apply/EFin_measurable_fun; apply: measurable_funM; last exact: measurable_fun_cst.
apply: measurable_funM; first exact: mexp.
apply: measurable_inverse; first by move=> y; exact: weight_gt0.
rewrite /weight; elim: (index_enum _) => [|k r IH].
  by under eq_fun do rewrite big_nil; exact: measurable_fun_cst.
by under eq_fun do rewrite big_cons; exact: measurable_funD.
Defined.

Lemma choice_kernelE y : choice_kernel y = choice_law (scores ^~ y).
Proof. by []. Qed.

End choice.

(* E5: all trainings on their chunks, at the places A, and the choice by losses on other places. *)
Section tuning.
Context (R : realType) d (Y : measurableType d).
Variables (Z : Type) (n m : nat) (m0 : (0 < m)%N).
Variables (M : ('I_n -> Z) -> {measure set Y -> \bar R}) (M1 : forall S, M S setT = 1%E).
Variables (validation : pred 'I_n) (l : nat -> Y -> Z -> R) (top lambda epsilon delta : R).
Hypotheses (ml : forall i z, measurable_fun setT (fun y => l i y z)) (l01 : forall i y z, 0 <= l i y z <= top).
Hypotheses (lambda0 : 0 < lambda) (scale : 2 * top <= epsilon * lambda).

Definition score (S : 'I_n -> Z) i y := - \sum_(j | validation j) l i y (S j).

Lemma measurable_score S i : measurable_fun setT (score S i).
Proof.
rewrite /score; under eq_fun do rewrite -mulN1r; apply: measurable_funrM.
elim: (index_enum _) => [|k r IH]; first by under eq_fun do rewrite big_nil; exact: measurable_fun_cst.
under eq_fun do rewrite big_cons; case: (validation k) => //; exact: measurable_funD.
Qed.

(* A replaced row moves a score by at most the largest loss. *)
Lemma score_moves S S' i y : neighbours S S' -> `|score S i y - score S' i y| <= top.
Proof.
move=> [j same]; rewrite /score -opprD normrN -sumrB; have [vj|nvj] := boolP (validation j).
  rewrite (bigD1 j) //= big1 => [|k /andP[_ /same ->]]; last by rewrite subrr.
  rewrite addr0; have /andP[h0 h1] := l01 i y (S j); have /andP[h0' h1'] := l01 i y (S' j).
  by rewrite ler_distl ler_subl_addr (le_trans h1') ?ler_addr //= (le_trans h1) // ler_addr.
rewrite big1 ?normr0 => [|k vk]; first by case/andP: (l01 i y (S j)) => /le_trans; apply.
by rewrite same ?subrr //; apply: contraNneq nvj => <-.
Qed.

Definition tuned S := choice_kernel lambda m0 (measurable_score S).

Theorem E5 (A : 'I_n -> Prop) : (forall j, A j -> ~~ validation j) -> 0 <= delta ->
  reads A M -> private epsilon delta M -> private epsilon delta (fun S => joint_law (M S) (tuned S)).
Proof.
move=> disjoint delta0 readsA private1.
have apart j : A j -> validation j -> False by move=> /disjoint/negP.
have readsV y : reads (fun j => validation j) (fun S => tuned S y).
  move=> S S' same E _; have eqs : score S ^~ y = score S' ^~ y.
    by apply/funext => k; rewrite /score; congr (- _); apply: eq_bigr => j /same ->.
  by rewrite -[LHS]/(choice_law lambda m0 (score S ^~ y) E) eqs.
have private2 y : private epsilon 0 (fun S => tuned S y).
  move=> S S' adj; have near k : `|(score S ^~ y) k - (score S' ^~ y) k| <= top by exact: score_moves.
  exact: (choice_close lambda0 m0 (s := score S ^~ y) (s' := score S' ^~ y) near scale).
have both := N3_disjoint M1 apart (lexx 0) readsA readsV private1 private2.
by rewrite (max_idPl delta0) in both.
Qed.

(* The page as one theorem: trainings on disjoint chunks, each private on its own, the choice, and any measurable function of
   both, such as the chosen candidate with its weights. *)
Theorem E5_chunks (A : 'I_n -> Prop) deltas d' (X : measurableType d')
  (f : (Y * [the measurableType _ of (nat : Type)])%type -> X) (mf : measurable_fun setT f) :
  in_parallel epsilon M A deltas -> (forall x, x \in deltas -> x <= delta) -> 0 <= delta ->
  (forall j, A j -> ~~ validation j) ->
  private epsilon delta (fun S => [the measure _ _ of pushforward (joint_law (M S) (tuned S)) mf]).
Proof.
move=> par below delta0 disjoint; have [_ readsA close] := parallel_facts par.
exact/N3_function/(E5 disjoint delta0 readsA)/close.
Qed.

End tuning.

(* Q1: the score of a candidate for a quantile, and the largest score with exponential noise. *)
Section quantile.
Variable R : realType.
Add Field reals : (real_field R).

Definition quantile_score n (a : R) (x : 'I_n -> R) (c : R) :=
  - `|(1 - a) * (\sum_i (x i < c)%R%:R) - a * (\sum_i (c < x i)%R%:R)|.

Theorem Q1_score n (a c : R) (x x' : 'I_n -> R) : 0 <= a <= 1 -> neighbours x x' ->
  `|quantile_score a x c - quantile_score a x' c| <= 1.
Proof.
move=> /andP[a0 a1] [i same]; rewrite /quantile_score -opprD normrN.
apply: (le_trans (ler_dist_dist _ _)).
have one (P : R -> bool) : exists2 p : R, \sum_j (P (x j))%:R = \sum_j (P (x' j))%:R + p & `|p| <= 1.
  exists ((P (x i))%:R - (P (x' i))%:R); last by do 2 case: (P _); rewrite ?subrr ?subr0 ?sub0r ?normrN ?normr1 ?normr0.
  rewrite (bigD1 i) //= [X in _ = X + _](bigD1 i) //=.
  rewrite (eq_bigr (fun j => (P (x' j))%:R)) => [|j /same -> //].
  by set u := \sum_(j < n | _) _; rewrite addrC -[RHS]addrA [RHS]addrC addrA subrK addrC.
have [p -> p1] := one (fun t => t < c); have [q -> q1] := one (fun t => c < t).
set u := \sum_j _; set v := \sum_j _.
have -> : (1 - a) * (u + p) - a * (v + q) - ((1 - a) * u - a * v) = (1 - a) * p - a * q by real_ring R.
have b0 : 0 <= 1 - a by rewrite subr_ge0.
apply: (le_trans (ler_norm_sub _ _)); rewrite !normrM (ger0_norm b0) (ger0_norm a0).
have hp := ler_wpmul2l b0 p1; have hq := ler_wpmul2l a0 q1.
by rewrite (le_trans (ler_add hp hq)) // !mulr1 subrK.
Qed.

Context d (Y : measurableType d).
Variables (nu : {measure set Y -> \bar R}) (k : nat) (noise : 'I_k -> Y -> R) (lambda : R).
Hypotheses (mnoise : forall j, measurable_fun setT (noise j)) (lambda0 : 0 < lambda).
Implicit Types (s : 'I_k -> R) (c : 'I_k).

(* Given the others' noise, the candidate c is the largest if its own exponential noise exceeds all of
   s_j + noise_j - s_c: with probability min(1, exp(-(largest of these)/lambda)). *)
Definition wins s c y := \big[Num.min/1]_(j | j != c) expR ((s c - s j - noise j y) / lambda).

Definition largest s c := (\int[nu]_y (wins s c y)%:E)%E.

Lemma wins_ge0 s c y : 0 <= wins s c y.
Proof.
by rewrite /wins; elim/big_rec: _ => [|j x _ x0]; rewrite ?ler01 // le_minr x0 andbT; exact/ltW/expR_gt0.
Qed.

Lemma measurable_wins s c : measurable_fun setT (fun y => (wins s c y)%:E).
Proof.
have efin (a b : R) : (Num.min a b)%:E = Order.min a%:E b%:E by rewrite /Order.min lte_fin; case: ifP.
rewrite /wins; elim: (index_enum _) => [|j r IH].
  by under eq_fun do rewrite big_nil; exact: measurable_fun_cst.
under eq_fun do rewrite big_cons; case: (j != c) => //.
under eq_fun do rewrite efin; apply: emeasurable_fun_min => //; apply/EFin_measurable_fun.
apply: measurable_exponential; under eq_fun do rewrite mulrC; apply: measurable_funrM.
by apply: measurable_funB => //; exact: measurable_fun_cst.
Qed.

Lemma wins_ratio s s' c y : (forall j, `|s j - s' j| <= 1) -> wins s c y <= expR (2 / lambda) * wins s' c y.
Proof.
move=> near; have e1 : 1 <= expR (2 / lambda) by rewrite -[X in X <= _]expR0 ler_expR divr_ge0 ?ler0n // ltW.
rewrite /wins; elim/big_ind2: _ => [|a a' b b' aa' bb'|j _]; first by rewrite mulr1.
  by rewrite minr_pmulr ?(le_trans ler01 e1) // le_minr !le_minl aa' bb' orbT.
rewrite -expRD ler_expR -mulrDl ler_wpmul2r ?invr_ge0 ?(ltW lambda0) //.
have hc := le_trans (ler_norm _) (near c); have hj := near j; rewrite distrC in hj.
have {}hj := le_trans (ler_norm _) hj.
by apply: (@le_by2 _ _ _ _ _ _ _ hc hj); real_ring R.
Qed.

Theorem Q1_largest s s' (A : pred 'I_k) : (forall j, `|s j - s' j| <= 1) ->
  (\sum_(c | A c) largest s c <= (expR (2 / lambda))%:E * \sum_(c | A c) largest s' c)%E.
Proof.
move=> near; have e0 := ltW (expR_gt0 (2 / lambda)).
have pos t c : (0 <= largest t c)%E by apply: integral_ge0 => y _; rewrite lee_fin wins_ge0.
rewrite ge0_sume_distrr //; apply: lee_sum => c _; rewrite /largest -ge0_integralM_EFin //.
- apply: ge0_le_integral => //.
  + by move=> y _; rewrite lee_fin wins_ge0.
  + exact: measurable_wins.
  + by move=> y _; rewrite -EFinM lee_fin mulr_ge0 // wins_ge0.
  + by apply: measurable_funeM; exact: measurable_wins.
  + by move=> y _; rewrite -EFinM lee_fin wins_ratio.
- by move=> y _; rewrite lee_fin wins_ge0.
- exact: measurable_wins.
Qed.

End quantile.
