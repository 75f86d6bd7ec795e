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
move=> near scale E _; rewrite adde0 !choice_lawE -EFinM lee_fin mulr_sumr; apply: ler_sum => i _.
by rewrite mulrA ler_wpmul2r //; exact: E5_choice near scale.
Qed.

Context d (Y : measurableType d).
Variables (scores : nat -> Y -> R) (mscores : forall i, measurable_fun setT (scores i)).

Definition choice_kernel : kernel R Y [the measurableType _ of nat].
Proof.
apply: (@Kernel _ _ _ _ _ (fun y => choice_law (scores ^~ y))) => [y|E _].
  rewrite choice_lawE (eq_bigr (fun i : 'I_m => chosen (scores ^~ y) i)) ?chosen_sum // => i _.
  by rewrite indicT mulr1.
have -> : (fun y => choice_law (scores ^~ y) E) =
    (fun y => \sum_(i < m) (chosen (scores ^~ y) i * \1_E (i : nat))%:E)%E.
  by apply/funext => y; rewrite choice_lawE sumEFin.
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
