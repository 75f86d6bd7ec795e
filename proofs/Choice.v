(* Pages E5, Q1 and N6: choices by scores, with the noise that is drawn. *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality mathcomp_extra.
From mathcomp.analysis Require Import reals ereal topology normedtype realfun sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Privacy Maximum.

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
Local Notation places := [the measurableType _ of (nat : Type)].
Variables (Z : Type) (n k : nat).
Variables (M : ('I_n -> Z) -> {measure set Y -> \bar R}) (M1 : forall S, M S setT = 1%E).
Variables (validation : pred 'I_n) (l : nat -> Y -> Z -> R) (top lambda epsilon delta : R).
Hypotheses (ml : forall i z, measurable_fun setT (fun y => l i y z)) (l01 : forall i y z, 0 <= l i y z <= top).
Hypotheses (lambda0 : 0 < lambda) (scale : 2 * top <= epsilon * lambda).

Definition score (S : 'I_n -> Z) i y := - \sum_(j | validation j) l i y (S j).

Lemma measurable_score S i : measurable_fun setT (score S i).
Proof.
rewrite /score; under eq_fun do rewrite -mulN1r; apply: measurable_funrM.
elim: (index_enum _) => [|j r IH]; first by under eq_fun do rewrite big_nil; exact: measurable_fun_cst.
under eq_fun do rewrite big_cons; case: (validation j) => //; exact: measurable_funD.
Qed.

(* A replaced row moves a score by at most the largest loss. *)
Lemma score_moves S S' i y : neighbours S S' -> `|score S i y - score S' i y| <= top.
Proof.
move=> [j same]; rewrite /score -opprD normrN -sumrB; have [vj|nvj] := boolP (validation j).
  rewrite (bigD1 j) //= big1 => [|i' /andP[_ /same ->]]; last by rewrite subrr.
  rewrite addr0; have /andP[h0 h1] := l01 i y (S j); have /andP[h0' h1'] := l01 i y (S' j).
  by rewrite ler_distl ler_subl_addr (le_trans h1') ?ler_addr //= (le_trans h1) // ler_addr.
rewrite big1 ?normr0 => [|i' vi]; first by case/andP: (l01 i y (S j)) => /le_trans; apply.
by rewrite same ?subrr //; apply: contraNneq nvj => <-.
Qed.

Lemma score_reads S S' y : (forall j, validation j -> S j = S' j) -> score S ^~ y = score S' ^~ y.
Proof. by move=> same; apply/funext => i; rewrite /score; congr (- _); apply: eq_bigr => j /same ->. Qed.

(* One of k + 1 candidates, by probabilities proportional to exp(score/lambda). *)
Definition tuned S := choice_kernel lambda (ltn0Sn k) (measurable_score S).

(* As it is drawn: the largest score, each with Gumbel noise of scale lambda. *)
Definition tuned_by_gumbel S : kernel R Y places :=
  drawn_kernel (gumbel_law1 lambda0) (fun i : 'I_k.+1 => measurable_score S i).

Definition by_scores (choose : ('I_n -> Z) -> kernel R Y places) :=
  (forall y, reads (fun j => validation j) (fun S => choose S y)) /\ forall y, private epsilon 0 (fun S => choose S y).

Lemma tuned_by_scores : by_scores tuned.
Proof.
split=> y S S' adj.
  by move=> E _; rewrite -[LHS]/(choice_law lambda (ltn0Sn k) (score S ^~ y) E) (score_reads y adj).
have near i : `|(score S ^~ y) i - (score S' ^~ y) i| <= top by exact: score_moves.
exact: (choice_close lambda0 (ltn0Sn k) (s := score S ^~ y) (s' := score S' ^~ y) near scale).
Qed.

Lemma tuned_by_gumbel_by_scores : by_scores tuned_by_gumbel.
Proof.
split=> y S S' adj.
  move=> E _; have eqs : (fun i : 'I_k.+1 => score S i y) = fun i : 'I_k.+1 => score S' i y.
    by apply/funext => i; rewrite -[LHS]/((score S ^~ y) i) (score_reads y adj).
  by rewrite -[LHS]/(drawn (gumbel_law1 lambda0) (fun i : 'I_k.+1 => score S i y) E) eqs.
have top0 : 0 <= 2 * top by rewrite mulr_ge0 ?ler0n //; exact: le_trans (score_moves 0%N y adj).
apply: (@close_weaken _ _ _ _ _ (2 * top / lambda) _ 0) => //; first by rewrite ler_pdivr_mulr.
apply: (@noisy_maximum _ _ _ _ _ _ top (2 * top)) => // [|i]; first exact: gumbel_moved.
exact: score_moves.
Qed.

Theorem E5 choose (A : 'I_n -> Prop) : by_scores choose -> (forall j, A j -> ~~ validation j) -> 0 <= delta ->
  reads A M -> private epsilon delta M -> private epsilon delta (fun S => joint_law (M S) (choose S)).
Proof.
move=> [readsV private2] disjoint delta0 readsA private1.
have apart j : A j -> validation j -> False by move=> /disjoint/negP.
have both := N3_disjoint M1 apart (lexx 0) readsA readsV private1 private2.
by rewrite (max_idPl delta0) in both.
Qed.

(* The page as one theorem: trainings on disjoint chunks, each private on its own, the choice, and any measurable function of
   both, such as the chosen candidate with its weights. The choice is drawn from its probabilities, or by Gumbel noise. *)
Theorem E5_chunks (A : 'I_n -> Prop) deltas d' (X : measurableType d')
  (f : (Y * places)%type -> X) (mf : measurable_fun setT f) :
  in_parallel epsilon M A deltas -> (forall x, x \in deltas -> x <= delta) -> 0 <= delta ->
  (forall j, A j -> ~~ validation j) ->
  private epsilon delta (fun S => [the measure _ _ of pushforward (joint_law (M S) (tuned S)) mf]) /\
  private epsilon delta (fun S => [the measure _ _ of pushforward (joint_law (M S) (tuned_by_gumbel S)) mf]).
Proof.
move=> par below delta0 disjoint; have [_ readsA close] := parallel_facts par.
split; apply: N3_function; apply: (E5 _ disjoint delta0 readsA) (close _ below).
  exact: tuned_by_scores.
exact: tuned_by_gumbel_by_scores.
Qed.

End tuning.

(* Counts of rows that a rule picks, on neighbouring tables. *)
Lemma count_moves (R : realType) n (X : Type) (P : X -> bool) (x x' : 'I_n -> X) i :
  (forall j, j != i -> x j = x' j) ->
  \sum_j (P (x j))%:R = \sum_j (P (x' j))%:R + ((P (x i))%:R - (P (x' i))%:R) :> R.
Proof.
move=> same; rewrite (bigD1 i) //= [X in _ = X + _](bigD1 i) //=.
rewrite (eq_bigr (fun j => (P (x' j))%:R)) => [|j /same -> //].
by set u := \sum_(j < n | _) _; rewrite addrC -[RHS]addrA [RHS]addrC addrA subrK addrC.
Qed.

(* Q1: the score of a candidate for a quantile. *)
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
  exists ((P (x i))%:R - (P (x' i))%:R); first exact: count_moves.
  by do 2 case: (P _); rewrite ?subrr ?subr0 ?sub0r ?normrN ?normr1 ?normr0.
have [p -> p1] := one (fun t => t < c); have [q -> q1] := one (fun t => c < t).
set u := \sum_j _; set v := \sum_j _.
have -> : (1 - a) * (u + p) - a * (v + q) - ((1 - a) * u - a * v) = (1 - a) * p - a * q by real_ring R.
have b0 : 0 <= 1 - a by rewrite subr_ge0.
apply: (le_trans (ler_norm_sub _ _)); rewrite !normrM (ger0_norm b0) (ger0_norm a0).
have hp := ler_wpmul2l b0 p1; have hq := ler_wpmul2l a0 q1.
by rewrite (le_trans (ler_add hp hq)) // !mulr1 subrK.
Qed.

(* The page: quantiles of values of the rows, each a column and a level, on a grid of k + 1 candidates; scores are counted in
   parts of which a row has `parts`, and the noise has the scale lambda in these. *)
Variables (Z : Type) (n k : nat) (grid : 'I_k.+1 -> R) (lambda parts : R).
Hypotheses (lambda0 : 0 < lambda) (parts0 : 0 <= parts).

Definition quantile (q : (Z -> R) * R) (S : 'I_n -> Z) j := parts * quantile_score q.2 (q.1 \o S) (grid j).

Theorem Q1 d (Y : measurableType d) (M : ('I_n -> Z) -> {measure set Y -> \bar R}) (qs : seq ((Z -> R) * R)) (e : R) :
  choices lambda0 M (map quantile qs) -> all (fun q => 0 <= q.2 <= 1) qs -> 2 * parts * (size qs)%:R <= e * lambda ->
  private e 0 M /\ encoded_after e M.
Proof.
move=> drawnM levels scale; apply: (largest_noisy_scores parts0 drawnM); last by rewrite size_map.
move=> i; rewrite size_map => lt S S' j adj; rewrite (nth_map (fst (head (fun=> 0, 0) qs), 0)) //.
have /allP/(_ _ (mem_nth _ lt)) := levels; move=> /(_ (fst (head (fun=> 0, 0) qs), 0)) level.
rewrite /quantile -mulrBr normrM (ger0_norm parts0) -[X in _ <= X]mulr1 ler_wpmul2l //.
apply: Q1_score => //; have [l same] := adj; exists l => r rl /=; by rewrite same.
Qed.

End quantile.

(* N6: the score of an interval, and intervals for many columns. Values are of any type; `known` says which are not missing,
   `inside J` which lie in J; T(I) are the shorter intervals of I. *)
Section intervals.
Variables (R : realType) (X J : Type) (known : X -> bool) (inside : J -> X -> bool) (g : R).
Hypothesis g01 : 0 <= g <= 1.
Add Field reals : (real_field R).

Definition outside n j (x : 'I_n -> X) : R := \sum_i (known (x i) && ~~ inside j (x i))%:R.
Definition interval_score n (whole : J) (shorter : seq J) (x : 'I_n -> X) :=
  \big[Num.min/- outside whole x]_(j <- shorter) (outside j x - g * \sum_i (known (x i))%:R).

Lemma min_moves (a a' b b' : R) : `|a - a'| <= 1 -> `|b - b'| <= 1 -> `|Num.min a b - Num.min a' b'| <= 1.
Proof.
have half (u u' v v' : R) : u <= u' + 1 -> v <= v' + 1 -> Num.min u v <= Num.min u' v' + 1.
  by move=> hu hv; case: (leP u' v') => _; rewrite le_minl ?hu ?hv ?orbT.
rewrite !ler_distl !ler_subl_addr => /andP[a1 a2] /andP[b1 b2]; apply/andP; split; exact: half.
Qed.

Theorem N6_score n whole shorter (x x' : 'I_n -> X) : neighbours x x' ->
  `|interval_score whole shorter x - interval_score whole shorter x'| <= 1.
Proof.
move=> [i same]; have /andP[g0 g1] := g01; rewrite /interval_score.
elim: shorter => [|j shorter IH]; [rewrite !big_nil|rewrite !big_cons; apply: min_moves => //].
  rewrite /outside (count_moves R (fun y => known y && ~~ inside whole y) same) -opprD normrN addrC addKr.
  by do 2 case: (_ && _); rewrite ?subrr ?subr0 ?sub0r ?normrN ?normr1 ?normr0.
rewrite /outside (count_moves R (fun y => known y && ~~ inside j y) same) (count_moves R known same).
have low : - g <= 1 - g by rewrite ler_addr ler01.
have shape y : - g <= (known y && ~~ inside j y)%:R - g * (known y)%:R <= 1 - g.
  by case: (known y); case: (inside j y); rewrite /= ?mulr1 ?mulr0 ?sub0r ?subr0 ?oppr0 ?lexx ?low ?oppr_le0 ?subr_ge0 ?g0 ?g1.
have /andP[lo hi] := shape (x i); have /andP[lo' hi'] := shape (x' i); move: lo hi lo' hi'.
set u := \sum_l _; set v := \sum_l _; set a := (_ && _)%:R; set b := (known _)%:R => lo hi.
set a' := (_ && _)%:R; set b' := (known _)%:R => lo' hi'.
have -> : u + (a - a') - g * (v + (b - b')) - (u - g * v) = (a - g * b) - (a' - g * b') by real_ring R.
rewrite ler_norml; apply/andP; split.
  by apply: (@le_by2 _ _ _ _ _ _ _ lo hi'); real_ring R.
by apply: (@le_by2 _ _ _ _ _ _ _ lo' hi); real_ring R.
Qed.

(* The page: intervals for columns, each a map from rows to values. *)
Variables (Z : Type) (n k : nat) (wholes : 'I_k.+1 -> J) (shorters : 'I_k.+1 -> seq J) (lambda parts : R).
Hypotheses (lambda0 : 0 < lambda) (parts0 : 0 <= parts).

Definition interval (column : Z -> X) (S : 'I_n -> Z) c := parts * interval_score (wholes c) (shorters c) (column \o S).

Theorem N6 d (Y : measurableType d) (M : ('I_n -> Z) -> {measure set Y -> \bar R}) (columns : seq (Z -> X)) (e : R) :
  choices lambda0 M (map interval columns) -> 2 * parts * (size columns)%:R <= e * lambda ->
  private e 0 M /\ encoded_after e M.
Proof.
move=> drawnM scale; apply: (largest_noisy_scores parts0 drawnM); last by rewrite size_map.
move=> i; case: columns drawnM scale => // column columns _ _; rewrite size_map => lt S S' c [l same].
rewrite (nth_map column) // /interval -mulrBr normrM (ger0_norm parts0) -[X in _ <= X]mulr1 ler_wpmul2l //.
by apply: N6_score; exists l => r rl /=; rewrite same.
Qed.

End intervals.
