(* Laws that are close: a density ratio, means (the lemma of page K1), post-processing, sequences and disjoint rows (N3). *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality mathcomp_extra.
From mathcomp.analysis Require Import reals ereal topology normedtype sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.
Local Open Scope ereal_scope.

Section close.
Context (R : realType) d (T : measurableType d).
Implicit Types P Q : {measure set T -> \bar R}.
Add Field reals : (real_field R).

(* P(E) <= e^epsilon Q(E) + delta for every event E. *)
Definition close (epsilon delta : R) (P Q : set T -> \bar R) :=
  forall E, measurable E -> P E <= (expR epsilon)%:E * Q E + delta%:E.

Definition has_density (lambda : {measure set T -> \bar R}) (P : set T -> \bar R) (p : T -> R) :=
  [/\ measurable_fun setT p, forall x, (0 <= p x)%R &
      forall E, measurable E -> P E = \int[lambda]_(x in E) (p x)%:E].

(* From a density ratio to every event. *)
Theorem density_ratio (lambda : {measure set T -> \bar R}) P Q p q (epsilon : R) :
  has_density lambda P p -> has_density lambda Q q ->
  (forall x, (p x <= expR epsilon * q x)%R) -> close epsilon 0 P Q.
Proof.
move=> [mp p0 Pp] [mq q0 Qq] ratio E mE; rewrite adde0 Pp // Qq //.
have mq' : measurable_fun E (EFin \o q) by apply: measurable_funTS; exact/EFin_measurable_fun.
rewrite -ge0_integralM_EFin //; last 2 first.
- by move=> x _; rewrite lee_fin.
- exact/ltW/expR_gt0.
apply: ge0_le_integral => //.
- by move=> x _; rewrite lee_fin.
- by apply: measurable_funTS; exact/EFin_measurable_fun.
- by move=> x _; rewrite -EFinM lee_fin mulr_ge0 // ltW // expR_gt0.
- exact: measurable_funeM.
- by move=> x _; rewrite -EFinM lee_fin.
Qed.

(* What exceeds the ratio, the hockey-stick integral, bounds every event; and it is at most the probability that the loss
   exceeds epsilon. Pages D3 and K1 evaluate it for normal densities. *)
Section hockey_stick.
Variables (lambda : {measure set T -> \bar R}) (P Q : set T -> \bar R) (p q : T -> R) (epsilon : R).
Hypotheses (Pp : has_density lambda P p) (Qq : has_density lambda Q q).
Let above x := Num.max (p x - expR epsilon * q x)%R 0%R.

Definition hockey_stick := \int[lambda]_x (Num.max (p x - expR epsilon * q x)%R 0%R)%:E.

Let above_ge0 x : (0 <= above x)%R. Proof. by rewrite le_maxr lexx orbT. Qed.

Let measurable_above : measurable_fun setT above.
Proof.
have [mp _ _] := Pp; have [mq _ _] := Qq; apply: measurable_fun_max; last exact: measurable_fun_cst.
by apply: measurable_funB => //; exact: measurable_funrM.
Qed.

Theorem hockey_stick_bounds E : measurable E -> P E <= (expR epsilon)%:E * Q E + hockey_stick.
Proof.
move=> mE; have [mp p0 ->] := Pp; last by []; have [mq q0 ->] := Qq; last by [].
have e0 := ltW (expR_gt0 epsilon).
have mq' : measurable_fun E (EFin \o q) by apply: measurable_funTS; exact/EFin_measurable_fun.
have ma : measurable_fun setT (EFin \o above) by exact/EFin_measurable_fun.
have eq0 x : 0 <= (expR epsilon)%:E * (q x)%:E by rewrite -EFinM lee_fin mulr_ge0.
apply: (@le_trans _ _ (\int[lambda]_(x in E) ((expR epsilon)%:E * (q x)%:E + (above x)%:E))).
  apply: ge0_le_integral => //.
  - by move=> x _; rewrite lee_fin.
  - by apply: measurable_funTS; exact/EFin_measurable_fun.
  - by move=> x _; rewrite adde_ge0 // lee_fin.
  - by apply: emeasurable_funD; [exact: measurable_funeM|exact: measurable_funTS].
  - by move=> x _; rewrite -EFinM -EFinD lee_fin -ler_subl_addl le_maxr lexx.
rewrite ge0_integralD //; last 3 first.
- exact: measurable_funeM.
- by move=> x _; rewrite lee_fin.
- exact: measurable_funTS.
rewrite ge0_integralM_EFin //; last by move=> x _; rewrite lee_fin.
apply: lee_add2l; apply: subset_integral => //.
by move=> x _; rewrite lee_fin.
Qed.

Theorem hockey_stick_tail (E := [set x | (expR epsilon * q x < p x)%R]) : measurable E -> hockey_stick <= P E.
Proof.
move=> mE; have [mp p0 ->] := Pp; last by []; have [mq q0 _] := Qq.
rewrite [X in _ <= X]integral_mkcond; apply: ge0_le_integral => //.
- by move=> x _; rewrite lee_fin; exact: above_ge0.
- exact/EFin_measurable_fun/measurable_above.
- by move=> x _; apply: erestrict_ge0 => y _; rewrite lee_fin.
- by apply/(measurable_restrict _ mE) => //; apply: measurable_funTS; exact/EFin_measurable_fun.
- move=> x _; rewrite /patch; case: ifPn => [|/negP]; rewrite inE /E /= => h.
    by rewrite lee_fin le_maxl p0 andbT ler_subl_addr ler_addl mulr_ge0 // ltW // expR_gt0.
  by rewrite lee_fin le_maxl lexx andbT subr_le0 leNgt; apply/negP.
Qed.

End hockey_stick.

(* Pages D1 and N3: what a pure level a says below it, between laws. Randomised response attains it. *)
Theorem pure_curve P Q (a epsilon : R) : P setT = 1 -> Q setT = 1 -> (0 <= epsilon <= a)%R ->
  close a 0 P Q -> close a 0 Q P -> close epsilon ((expR a - expR epsilon) / (expR a + 1))%R P Q.
Proof.
move=> P1 Q1 /andP[epsilon0 below] PQ QP E mE.
have mass (M : {measure set T -> \bar R}) : M setT = 1 ->
    exists2 m : R, M E = m%:E & M (~` E) = (1 - m)%:E.
  move=> M1; have le1 : M E <= 1 by rewrite -M1; apply: le_measure; rewrite ?inE.
  have fin : M E \is a fin_num by rewrite ge0_fin_numE // (le_lt_trans le1) // ltry.
  exists (fine (M E)); first by rewrite fineK.
  by rewrite -setTD measureD ?M1 ?ltry // setTI -(fineK fin).
have [p Pp Pp'] := mass P P1; have [q Qq Qq'] := mass Q Q1.
have := QP _ (measurableC mE); have := PQ _ mE.
rewrite !adde0 Pp Qq Pp' Qq' -!EFinM -EFinD !lee_fin => inside outside.
have [low high] : (1 <= expR epsilon)%R /\ (expR epsilon <= expR a)%R by rewrite -{1}expR0 !ler_expR.
have one : (0 < expR a + 1)%R by rewrite addr_gt0 ?expR_gt0.
rewrite -ler_subl_addl ler_pdivl_mulr //; move: inside outside low high.
set A := expR a; set e := expR epsilon => inside outside low high.
have [A1|A1] := leP A 1%R.
  have eA : e = A by apply/eqP; rewrite eq_le high (le_trans A1).
  by rewrite eA subrr pmulr_lle0 // subr_le0.
have A0 : (0 < A - 1)%R by rewrite subr_gt0.
have Ae : (0 <= A * e - 1)%R by rewrite subr_ge0 -[leLHS]mulr1 ler_pmul // ltW.
have h1 := ler_wpmul2l Ae inside.
have h2 : ((A - e) * (1 - q) <= (A - e) * (A * (1 - p)))%R by rewrite ler_wpmul2l ?subr_ge0.
rewrite -(ler_pmul2l A0); apply: (@le_by2 _ _ _ _ _ _ _ h1 h2); real_ring R.
Qed.

Lemma close_weaken P Q (epsilon epsilon' delta delta' : R) : (epsilon <= epsilon')%R -> (delta <= delta')%R ->
  close epsilon delta P Q -> close epsilon' delta' P Q.
Proof.
move=> le le' PQ E mE; apply: (le_trans (PQ E mE)); apply: lee_add; last by rewrite lee_fin.
by apply: lee_wpmul2r => //; rewrite lee_fin ler_expR.
Qed.

(* How many of 1, ..., n a number y between 0 and n has reached: y itself, up to 1. *)
Lemma reached (y : R) n : (0 <= y <= n%:R)%R ->
  (\sum_(k < n) (k.+1%:R <= y : nat)%:R <= y <= \sum_(k < n) (k.+1%:R <= y : nat)%:R + 1)%R.
Proof.
elim: n => [|n IH] /andP[y0]; first by rewrite big_ord0 => yn; rewrite y0 add0r (le_trans yn) // ler01.
move=> yn; rewrite big_ord_recr /=; have [small|big] := lerP y n%:R.
  have -> : (n.+1%:R <= y)%R = false.
    by apply/negbTE; rewrite -ltNge (le_lt_trans small) // ltr_nat.
  by rewrite addr0; apply: IH; rewrite y0.
rewrite (eq_bigr (fun=> 1%R)) => [|k _]; last first.
  by rewrite (le_trans _ (ltW big)) // ler_nat.
rewrite sumr_const card_ord; have [all|part] := lerP n.+1%:R y.
  have -> : y = n.+1%:R by apply/eqP; rewrite eq_le yn.
  by rewrite [(1 *+ n + _)%R]natr1 lexx ler_addl ler01.
by rewrite addr0 (ltW big) natr1.
Qed.

(* The lemma of pages K1 and N3: what holds for events holds for means of functions with values in [0, 1]. *)
Section mean.
Variables (P Q : {measure set T -> \bar R}) (epsilon delta : R) (h : T -> R).
Hypotheses (P1 : P setT = 1) (PQ : close epsilon delta P Q).
Hypotheses (mh : measurable_fun setT h) (h01 : forall x, (0 <= h x <= 1)%R).

Let level n k := [set x | (k.+1%:R <= n%:R * h x)%R].

Let measurable_level n k : measurable (level n k).
Proof.
rewrite -[level n k]setTI (_ : level n k = (fun x => n%:R * h x)%R @^-1` `[k.+1%:R, +oo[%classic).
  by apply: measurable_funrM => //; exact: measurable_itv.
by apply/seteqP; split=> x /=; rewrite in_itv /= andbT.
Qed.

Let steps n x : R := (n%:R^-1 * \sum_(k < n) \1_(level n k) x)%R.

Let stepsP n x : (0 < n)%N -> (steps n x <= h x <= steps n x + n%:R^-1)%R.
Proof.
move=> n0; have pos : (0 < n%:R :> R)%R by rewrite ltr0n.
have /andP[low high] : (\sum_(k < n) \1_(level n k) x <= n%:R * h x
    <= \sum_(k < n) \1_(level n k) x + 1)%R.
  have -> : (\sum_(k < n) \1_(level n k) x = \sum_(k < n) (k.+1%:R <= n%:R * h x : nat)%:R :> R)%R.
    apply: eq_bigr => k _; rewrite indicE; congr (nat_of_bool _)%:R.
    by apply/idP/idP; rewrite inE.
  by apply: reached; case/andP: (h01 x) => h0 h1; rewrite mulr_ge0 ?ler0n //= ger_pmulr.
by rewrite /steps ler_pdivr_mull // low -[X in (_ <= _ + X)%R]mulr1 -mulrDr ler_pdivl_mull.
Qed.

Let integral_steps (M : {measure set T -> \bar R}) n :
  \int[M]_x (steps n x)%:E = (n%:R^-1)%:E * \sum_(k < n) M (level n k).
Proof.
under eq_integral do rewrite /steps EFinM -sumEFin.
rewrite ge0_integralM_EFin ?invr_ge0 ?ler0n //; last 2 first.
- by move=> x _; apply: sume_ge0 => k _; rewrite lee_fin.
- by apply: emeasurable_fun_sum => k; exact/EFin_measurable_fun/measurable_fun_indic.
congr (_ * _); rewrite ge0_integral_sum //; last 2 first.
- by move=> k; exact/EFin_measurable_fun/measurable_fun_indic.
- by move=> k x _; rewrite lee_fin.
by apply: eq_bigr => k _; rewrite integral_indic // setIT.
Qed.

Theorem close_mean : \int[P]_x (h x)%:E <= (expR epsilon)%:E * \int[Q]_x (h x)%:E + delta%:E.
Proof.
apply: lee_adde => e; pose n := Num.bound e%:num^-1.
have bound : (e%:num^-1 < n%:R)%R by apply: archi_boundP; rewrite invr_ge0.
have n0 : (0 < n%:R :> R)%R by rewrite (le_lt_trans _ bound) // invr_ge0.
have small : (n%:R^-1 <= e%:num)%R by rewrite -(invrK e%:num) lef_pinv ?posrE ?invr_gt0 // ltW.
have nN : (0 < n)%N by rewrite -(ltr0n R).
have msteps : measurable_fun setT (EFin \o steps n).
  have -> : EFin \o steps n = fun x => (n%:R^-1)%:E * \sum_(k < n) (\1_(level n k) x)%:E.
    by apply/funext => x /=; rewrite /steps EFinM sumEFin.
  apply: measurable_funeM; apply: emeasurable_fun_sum => k.
  exact/EFin_measurable_fun/measurable_fun_indic.
have steps0 x : 0 <= (EFin \o steps n) x.
  by rewrite lee_fin mulr_ge0 ?invr_ge0 ?ler0n // sumr_ge0.
apply: (@le_trans _ _ (\int[P]_x (steps n x)%:E + (n%:R^-1)%:E)).
  have -> : (n%:R^-1)%:E = \int[P]_x (cst (n%:R^-1)%:E) x by rewrite integral_cst // P1 mule1.
  rewrite -ge0_integralD //; last 3 first.
  - by move=> x _; exact: steps0.
  - by move=> x _; rewrite lee_fin invr_ge0.
  - exact: measurable_fun_cst.
  apply: ge0_le_integral => //.
  - by move=> x _; rewrite lee_fin; case/andP: (h01 x).
  - exact/EFin_measurable_fun.
  - by move=> x _; apply: adde_ge0; [exact: steps0|rewrite lee_fin invr_ge0].
  - by apply: emeasurable_funD => //; exact: measurable_fun_cst.
  - by move=> x _; rewrite -EFinD lee_fin; case/andP: (stepsP x nN).
apply: lee_add; last by rewrite lee_fin.
apply: (@le_trans _ _ ((expR epsilon)%:E * \int[Q]_x (steps n x)%:E + delta%:E)); last first.
  apply: lee_add2r; apply: lee_wpmul2l; first by rewrite lee_fin ltW // expR_gt0.
  apply: ge0_le_integral => //.
  - by move=> x _; exact: steps0.
  - by move=> x _; rewrite lee_fin; case/andP: (h01 x).
  - exact/EFin_measurable_fun.
  - by move=> x _; rewrite lee_fin; case/andP: (stepsP x nN).
rewrite !integral_steps muleCA.
apply: (@le_trans _ _ ((n%:R^-1)%:E * \sum_(k < n) ((expR epsilon)%:E * Q (level n k) + delta%:E))).
  apply: lee_wpmul2l; first by rewrite lee_fin invr_ge0.
  by apply: lee_sum => k _; exact: PQ.
rewrite big_split /= sumEFin sumr_const card_ord -ge0_sume_distrr //.
rewrite muleDr //; last exact: fin_num_adde_def.
rewrite -(EFinM n%:R^-1 (delta *+ n)).
by rewrite -[(delta *+ n)%R]mulr_natl mulrA mulVf ?gt_eqF // mul1r.
Qed.
End mean.

(* The same for functions with values in the extended reals, as probabilities of kernels are. *)
Lemma close_emean P Q (epsilon delta : R) (h : T -> \bar R) :
  P setT = 1 -> close epsilon delta P Q -> measurable_fun setT h -> (forall x, 0 <= h x <= 1) ->
  \int[P]_x h x <= (expR epsilon)%:E * \int[Q]_x h x + delta%:E.
Proof.
move=> P1 PQ mh h01.
have fin x : h x \is a fin_num.
  by case/andP: (h01 x) => h0 h1; rewrite ge0_fin_numE // (le_lt_trans h1) // ltry.
have real : h = EFin \o (fine \o h) by apply/funext => x /=; rewrite fineK.
rewrite real; apply: close_mean => //.
  by apply/EFin_measurable_fun; rewrite -real.
by move=> x /=; rewrite -!lee_fin fineK.
Qed.

End close.

(* A mechanism that sees y: a law for every y, measurable in y. *)
Structure kernel (R : realType) d d' (Y : measurableType d) (X : measurableType d') := Kernel {
  at_point :> Y -> {measure set X -> \bar R};
  kernel_law : forall y, at_point y setT = 1;
  kernel_measurable : forall E, measurable E -> measurable_fun setT (fun y => at_point y E) }.

Section kernels.
Context (R : realType) d d' (Y : measurableType d) (X : measurableType d').
Implicit Types (nu : {measure set Y -> \bar R}) (K : kernel R Y X).

Lemma kernel_le1 K y E : measurable E -> K y E <= 1.
Proof. by move=> mE; rewrite -(kernel_law K y); apply: le_measure; rewrite ?inE. Qed.

(* Probabilities of sections are measurable: true for rectangles, and kept by differences and unions. *)
Lemma measurable_sections K E : measurable E -> measurable_fun setT (fun y => K y (xsection E y)).
Proof.
pose good := [set E : set (Y * X) | measurable E /\ measurable_fun setT (fun y => K y (xsection E y))].
suff : measurable `<=` good by move=> /[apply] -[].
rewrite measurable_prod_measurableType.
set rectangles := [set A `*` B | A in measurable & B in measurable].
have rectanglesP : rectangles `<=` good.
  move=> _ [A mA [B mB <-]]; split; first exact: measurableM.
  have -> : (fun y => K y (xsection (A `*` B) y)) = fun y => (\1_A y)%:E * K y B.
    apply/funext => y; rewrite indicE; have [yA|yA] := boolP (y \in A).
      by rewrite mul1e in_xsectionM.
    by rewrite mul0e notin_xsectionM // measure0.
  apply: emeasurable_funM; last exact: kernel_measurable.
  exact/EFin_measurable_fun/measurable_fun_indic.
have rectanglesT : rectangles setT by exists setT => //; exists setT => //; rewrite setMTT.
apply: monotone_class_subset => //.
- move=> _ _ [A mA [B mB <-]] [A' mA' [B' mB' <-]]; exists (A `&` A'); first exact: measurableI.
  by exists (B `&` B'); [exact: measurableI|rewrite setMI].
- split => //.
  + exact: rectanglesP.
  + move=> A B BA [mA hA] [mB hB]; split; first exact: measurableD.
    have -> : (fun y => K y (xsection (A `\` B) y)) =
        fun y => K y (xsection A y) - K y (xsection B y).
      apply/funext => y; rewrite xsectionD measureD; try exact: measurable_xsection.
        by rewrite setIidr //; exact: le_xsection.
      by rewrite (le_lt_trans (kernel_le1 K y _)) ?ltry //; exact: measurable_xsection.
    exact: emeasurable_funB.
  + move=> F increasing inF; have mF i : measurable (F i) by case: (inF i).
    split; first exact: bigcupT_measurable.
    apply: (emeasurable_fun_cvg (fun i y => K y (xsection (F i) y))) => [i|y _]; first by case: (inF i).
    rewrite xsection_bigcup; apply: nondecreasing_cvg_mu.
    - by move=> i; exact: measurable_xsection.
    - by apply: bigcupT_measurable => i; exact: measurable_xsection.
    - by move=> i j ij; exact/subsetPset/le_xsection/subsetPset/increasing.
Qed.

(* The law of both releases: y from nu, then x from K y. *)
Definition joint nu K (E : set (Y * X)) := \int[nu]_y K y (xsection E y).

Section joint.
Variables (nu : {measure set Y -> \bar R}) (K : kernel R Y X).

Let joint0 : joint nu K set0 = 0.
Proof. by rewrite /joint (eq_integral (cst 0)) ?integral0 // => y _; rewrite xsection0 measure0. Qed.

Let joint_ge0 E : 0 <= joint nu K E.
Proof. by apply: integral_ge0 => y _; exact: measure_ge0. Qed.

Let joint_sigma_additive : semi_sigma_additive (joint nu K).
Proof.
move=> F mF disjoint mUF.
have -> : joint nu K (\bigcup_n F n) = \sum_(n <oo) joint nu K (F n).
  rewrite -integral_nneseries //; last by move=> n; exact: measurable_sections.
  apply: eq_integral => y _; rewrite xsection_bigcup; apply/esym/cvg_lim => //.
  apply: (measure_sigma_additive _ (trivIset_xsection disjoint)) => n.
  exact: measurable_xsection.
by apply: is_cvg_nneseries => n _; exact: joint_ge0.
Qed.

HB.instance Definition _ := isMeasure.Build _ _ _ (joint nu K) joint0 joint_ge0 joint_sigma_additive.

End joint.

Definition joint_law nu K : {measure set (Y * X)%type -> \bar R} := [the measure _ _ of joint nu K].

Lemma joint_is_law nu K : nu setT = 1 -> joint_law nu K setT = 1.
Proof.
move=> nu1; rewrite /= /joint (eq_integral (cst 1)) ?integral_cst ?mul1e // => y _.
by rewrite (_ : xsection _ _ = setT) ?kernel_law //; apply/seteqP; split=> x //= _; rewrite /xsection /= inE.
Qed.

End kernels.

(* Page N3: mechanisms on tables of n rows, of which the second sees what the first released. *)
Section compositions.
Context (R : realType) d d' (Y : measurableType d) (X : measurableType d').
Variables (Z : Type) (n : nat).
Local Notation table := ('I_n -> Z).
Implicit Types (epsilon delta : R).

Definition private d0 (T : measurableType d0) epsilon delta (M : table -> {measure set T -> \bar R}) :=
  forall S S', neighbours S S' -> close epsilon delta (M S) (M S').

Variables (M : table -> {measure set Y -> \bar R}) (M1 : forall S, M S setT = 1).
Variable (N : table -> kernel R Y X).

(* Part 1. More than two: by repetition, since the joint law is the law of a first mechanism. *)
Theorem N3_sequence epsilon1 delta1 epsilon2 delta2 : (0 <= delta2)%R ->
  private epsilon1 delta1 M -> (forall y, private epsilon2 delta2 (N ^~ y)) ->
  private (epsilon1 + epsilon2)%R (delta1 + delta2)%R (fun S => joint_law (M S) (N S)).
Proof.
move=> delta0 close1 close2 S S' adj E mE /=.
have e0 (epsilon : R) : 0 <= (expR epsilon)%:E by rewrite lee_fin ltW // expR_gt0.
have mN T : measurable_fun setT (fun y => N T y (xsection E y)) by exact: measurable_sections.
have msection y : measurable (xsection E y) by exact: measurable_xsection.
pose h y := mine 1 ((expR epsilon2)%:E * N S' y (xsection E y)).
have mh : measurable_fun setT h.
  by apply: emeasurable_fun_min; [exact: measurable_fun_cst|exact: measurable_funeM].
have h01 y : 0 <= h y <= 1 by rewrite /h le_minr le_minl lexx mule_ge0 //= lee01.
have above y : N S y (xsection E y) <= h y + delta2%:E.
  rewrite /h; have [_|_] := leP 1 ((expR epsilon2)%:E * N S' y (xsection E y)); last first.
    exact: (close2 y S S' adj _ (msection y)).
  apply: le_trans (kernel_le1 _ _ (msection y)) _.
  by rewrite -[leLHS]adde0 lee_add2l // lee_fin.
apply: (@le_trans _ _ (\int[M S]_y h y + delta2%:E)).
  have -> : delta2%:E = \int[M S]_y (cst delta2%:E) y by rewrite integral_cst // M1 mule1.
  rewrite -ge0_integralD //; last 2 first.
  - by move=> y _; case/andP: (h01 y).
  - exact: measurable_fun_cst.
  apply: ge0_le_integral => //.
  - by move=> y _; apply: adde_ge0; [case/andP: (h01 y)|rewrite lee_fin].
  - by apply: emeasurable_funD => //; exact: measurable_fun_cst.
have mean := close_emean (M1 S) (close1 S S' adj) mh h01.
apply: (le_trans (lee_add2r delta2%:E mean)); rewrite -addeA -EFinD lee_add2r //.
rewrite expRD EFinM -muleA lee_wpmul2l //.
rewrite -ge0_integralM_EFin //; last by rewrite ltW // expR_gt0.
apply: ge0_le_integral => //.
- by move=> y _; case/andP: (h01 y).
- by move=> y _; rewrite mule_ge0.
- exact: measurable_funeM.
- by move=> y _; rewrite /h le_minl lexx orbT.
Qed.

(* Part 1, the second sentence: a pure mechanism before one with a curve. *)
Corollary N3_pure_first epsilon1 (curve : R -> R) epsilon : (forall c, 0 <= curve c)%R ->
  private epsilon1 0 M -> (forall y c, (0 <= c)%R -> private c (curve c) (N ^~ y)) -> (epsilon1 <= epsilon)%R ->
  private epsilon (curve (epsilon - epsilon1)%R) (fun S => joint_law (M S) (N S)).
Proof.
move=> curve0 close1 close2 le; have c0 : (0 <= epsilon - epsilon1)%R by rewrite subr_ge0.
have := N3_sequence (curve0 _) close1 (fun y => close2 y _ c0).
by rewrite addrC subrK add0r.
Qed.

(* Part 4: the curve of a pure level, below it and from there on. *)
Corollary N3_below (a epsilon : R) : (0 <= epsilon)%R -> private a 0 M ->
  private epsilon (Num.max ((expR a - expR epsilon) / (expR a + 1)) 0)%R M.
Proof.
move=> epsilon0 pure S S' adj; have [below|above] := leP epsilon a; last first.
  by apply: close_weaken (pure S S' adj); [exact: ltW|rewrite le_maxr lexx orbT].
have adj' : neighbours S' S by have [i same] := adj; exists i => j /same.
apply: (@close_weaken _ _ _ _ _ epsilon _ ((expR a - expR epsilon) / (expR a + 1))%R) => //.
  by rewrite le_maxr lexx.
by apply: pure_curve (pure _ _ adj) (pure _ _ adj') => //; rewrite epsilon0.
Qed.

(* A mechanism that reads the rows at the places A alone. *)
Definition reads d0 (T : measurableType d0) (A : 'I_n -> Prop) (M : table -> {measure set T -> \bar R}) :=
  forall S S', (forall i, A i -> S i = S' i) -> forall E, measurable E -> M S E = M S' E.

(* Part 2, at one epsilon. *)
Theorem N3_disjoint (A B : 'I_n -> Prop) epsilon delta1 delta2 :
  (forall i, A i -> B i -> False) -> (0 <= delta2)%R ->
  reads A M -> (forall y, reads B (N ^~ y)) ->
  private epsilon delta1 M -> (forall y, private epsilon delta2 (N ^~ y)) ->
  private epsilon (Num.max delta1 delta2) (fun S => joint_law (M S) (N S)).
Proof.
move=> disjoint delta20 readsA readsB close1 close2 S S' adj E mE /=.
have e0 : 0 <= (expR epsilon)%:E by rewrite lee_fin ltW // expR_gt0.
have mN T : measurable_fun setT (fun y => N T y (xsection E y)) by exact: measurable_sections.
have msection y : measurable (xsection E y) by exact: measurable_xsection.
have [i same] := adj; have [Ai|nAi] := pselect (A i).
  (* the row is the first mechanism's: the second is one kernel *)
  have -> : joint (M S') (N S') E = joint (M S') (N S) E.
    apply: eq_integral => y _; apply: readsB => // j Bj; apply/esym/same.
    by apply: contraPneq Bj => ->; exact: disjoint.
  apply: (@le_trans _ _ ((expR epsilon)%:E * joint (M S') (N S) E + delta1%:E)); last first.
    by rewrite lee_add2l // lee_fin le_maxr lexx.
  apply: close_emean => //; first exact: close1.
  by move=> y; rewrite measure_ge0 kernel_le1.
(* the row is not the first mechanism's: its law is one *)
have -> : joint (M S') (N S') E = joint (M S) (N S') E.
  apply: eq_measure_integral => D mD _; apply: readsA => // j Aj; apply/esym/same.
  by apply: contra_not_neq nAi => <-.
apply: (@le_trans _ _ ((expR epsilon)%:E * joint (M S) (N S') E + delta2%:E)); last first.
  by rewrite lee_add2l // lee_fin le_maxr lexx orbT.
have -> : delta2%:E = \int[M S]_y (cst delta2%:E) y by rewrite integral_cst // M1 mule1.
rewrite /joint -ge0_integralM_EFin // -ge0_integralD //; last 3 first.
- by move=> y _; rewrite mule_ge0.
- exact: measurable_funeM.
- exact: measurable_fun_cst.
apply: ge0_le_integral => //.
- by move=> y _; rewrite adde_ge0 ?mule_ge0 // lee_fin.
- by apply: emeasurable_funD; [exact: measurable_funeM|exact: measurable_fun_cst].
- by move=> y _; exact: (close2 y S S' adj _ (msection y)).
Qed.

(* What both read together. *)
Lemma reads_joint (A B : 'I_n -> Prop) : reads A M -> (forall y, reads B (N ^~ y)) ->
  reads (fun i => A i \/ B i) (fun S => joint_law (M S) (N S)).
Proof.
move=> readsA readsB S S' same E mE /=.
have -> : joint (M S) (N S) E = joint (M S) (N S') E.
  apply: eq_integral => y _; apply: readsB; last exact: measurable_xsection.
  by move=> i Bi; apply: same; right.
by apply: eq_measure_integral => D mD _; apply: readsA => // i Ai; apply: same; left.
Qed.

(* Part 3: what is computed from a release, with coins of its own or without. *)
Theorem N3_post_processing epsilon delta (K : kernel R Y X) : private epsilon delta M ->
  forall S S', neighbours S S' -> forall E, measurable E ->
    \int[M S]_y K y E <= (expR epsilon)%:E * (\int[M S']_y K y E) + delta%:E.
Proof.
move=> close1 S S' adj E mE; apply: close_emean => //; first exact: close1.
  exact: kernel_measurable.
by move=> y; rewrite measure_ge0 kernel_le1.
Qed.

Theorem N3_function epsilon delta (f : Y -> X) (mf : measurable_fun setT f) : private epsilon delta M ->
  private epsilon delta (fun S => [the measure _ _ of pushforward (M S) mf]).
Proof.
move=> close1 S S' adj E mE; rewrite /= /pushforward; apply: close1 => //.
by rewrite -[_ @^-1` _]setTI; exact: mf.
Qed.

End compositions.

(* Coins of a law that knows nothing of the rows (pages M1 and N4): what holds for all fixed coins holds for the release
   without them. *)
Section coins.
Context (R : realType) d d' (U : measurableType d) (X : measurableType d') (Z : Type) (n : nat).

Lemma measurable_second : measurable_fun setT (fun p : (U * X)%type => p.2).
Proof.
have [_] := (@prod_measurable_funP _ _ _ _ _ _ idfun).1
  (@measurable_fun_id _ [the measurableType _ of (U * X)%type] setT).
exact.
Qed.

Definition mixture (nu : {measure set U -> \bar R}) (K : kernel R U X) : {measure set X -> \bar R} :=
  [the measure _ _ of pushforward (joint_law nu K) measurable_second].

Theorem N3_coins (nu : {measure set U -> \bar R}) (N : ('I_n -> Z) -> kernel R U X) epsilon delta :
  nu setT = 1 -> (0 <= delta)%R -> (forall u, private epsilon delta (N ^~ u)) ->
  private epsilon delta (fun S => mixture nu (N S)).
Proof.
move=> nu1 delta0 close1.
have coins : private 0 0 (fun _ : 'I_n -> Z => nu) by move=> S S' _ E _; rewrite expR0 mul1e adde0.
have := N3_function measurable_second (N3_sequence (fun=> nu1) delta0 coins close1).
by rewrite !add0r.
Qed.

End coins.

(* Page N3 for any number of mechanisms, each of which may be of another type: by induction. *)
Section many.
Variables (R : realType) (Z : Type) (n : nat).
Local Notation table := ('I_n -> Z).

(* Part 1: a mechanism, and then others that know what was released. Prices are the pairs (epsilon, delta), last first. *)
Inductive in_sequence : forall d (Y : measurableType d), (table -> {measure set Y -> \bar R}) -> seq (R * R) -> Prop :=
  | First d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) epsilon delta :
      (forall S, M S setT = 1) -> private epsilon delta M -> in_sequence M [:: (epsilon, delta)]
  | Next d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) prices
      d' (X : measurableType d') (N : table -> kernel R Y X) epsilon delta :
      in_sequence M prices -> (0 <= delta)%R -> (forall y, private epsilon delta (N ^~ y)) ->
      in_sequence (fun S => joint_law (M S) (N S)) ((epsilon, delta) :: prices).

Lemma sequence_is_law d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) prices :
  in_sequence M prices -> forall S, M S setT = 1.
Proof. by elim=> // *; exact: joint_is_law. Qed.

Theorem N3_sequences d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) prices : in_sequence M prices ->
  private (\sum_(p <- prices) p.1)%R (\sum_(p <- prices) p.2)%R M.
Proof.
elim=> {d Y M prices} [d Y M epsilon delta M1 close|d Y M prices d' X N epsilon delta seqM IH delta0 close].
  by rewrite !big_seq1.
rewrite !big_cons /= [(epsilon + _)%R]addrC [(delta + _)%R]addrC.
exact: (N3_sequence (sequence_is_law seqM) delta0 IH close).
Qed.

(* All but the last pure. *)
Corollary N3_sequences_pure d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) prices
  d' (X : measurableType d') (N : table -> kernel R Y X) (curve : R -> R) epsilon :
  in_sequence M prices -> (forall p, p \in prices -> p.2 = 0%R) -> (forall c, 0 <= curve c)%R ->
  (forall y c, (0 <= c)%R -> private c (curve c) (N ^~ y)) -> (\sum_(p <- prices) p.1 <= epsilon)%R ->
  private epsilon (curve (epsilon - \sum_(p <- prices) p.1)%R) (fun S => joint_law (M S) (N S)).
Proof.
move=> seqM pure curve0 close; apply: (N3_pure_first (sequence_is_law seqM) curve0 _ close).
have := N3_sequences seqM; rewrite [X in private _ X _](_ : _ = 0%R) //.
by rewrite big_seq big1 // => p /pure.
Qed.

(* Part 2: mechanisms that read disjoint places; `whole` holds the places that were read so far. *)
Inductive in_parallel (epsilon : R) :
    forall d (Y : measurableType d), (table -> {measure set Y -> \bar R}) -> ('I_n -> Prop) -> seq R -> Prop :=
  | Alone d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) (A : 'I_n -> Prop) delta :
      (forall S, M S setT = 1) -> reads A M -> private epsilon delta M -> in_parallel epsilon M A [:: delta]
  | Beside d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) (A B : 'I_n -> Prop) deltas
      d' (X : measurableType d') (N : table -> kernel R Y X) delta :
      in_parallel epsilon M A deltas -> (forall i, A i -> B i -> False) -> (0 <= delta)%R ->
      (forall y, reads B (N ^~ y)) -> (forall y, private epsilon delta (N ^~ y)) ->
      in_parallel epsilon (fun S => joint_law (M S) (N S)) (fun i => A i \/ B i) (delta :: deltas).

Lemma parallel_facts epsilon d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) A deltas :
  in_parallel epsilon M A deltas -> [/\ (forall S, M S setT = 1), reads A M &
    forall top : R, (forall delta, delta \in deltas -> delta <= top)%R -> private epsilon top M].
Proof.
elim=> {d Y M A deltas}
  [d Y M A delta M1 readsA close|d Y M A B deltas d' X N delta parM [M1 readsA IH] disjoint delta0 readsB close].
  split=> // top below S S' adj E mE; apply: (le_trans (close S S' adj E mE)).
  by rewrite lee_add2l // lee_fin below // mem_head.
split; first by move=> S; exact: joint_is_law.
  exact: reads_joint.
move=> top below S S' adj E mE.
have closeM : private epsilon top M by apply: IH => x xin; apply: below; rewrite inE xin orbT.
have := N3_disjoint M1 disjoint delta0 readsA readsB closeM close adj mE.
by rewrite max_l // below // mem_head.
Qed.

Theorem N3_parallel epsilon d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) A deltas (top : R) :
  in_parallel epsilon M A deltas -> (forall delta, delta \in deltas -> delta <= top)%R -> private epsilon top M.
Proof. by move=> /parallel_facts[_ _]; apply. Qed.

(* The page as one theorem: sequences within a budget, the curve after pure parts, disjoint rows, what is computed from a
   release with coins of its own, and the curve of a pure level. *)
Theorem N3 d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) :
  [/\ forall prices epsilon delta, in_sequence M prices -> (\sum_(p <- prices) p.1 <= epsilon)%R ->
        (\sum_(p <- prices) p.2 <= delta)%R -> private epsilon delta M,
      forall prices d' (X : measurableType d') (N : table -> kernel R Y X) (curve : R -> R) epsilon,
        in_sequence M prices -> (forall p, p \in prices -> p.2 = 0%R) -> (forall c, 0 <= curve c)%R ->
        (forall y c, (0 <= c)%R -> private c (curve c) (N ^~ y)) -> (\sum_(p <- prices) p.1 <= epsilon)%R ->
        private epsilon (curve (epsilon - \sum_(p <- prices) p.1)%R) (fun S => joint_law (M S) (N S)),
      forall epsilon A deltas (top : R), in_parallel epsilon M A deltas ->
        (forall delta, delta \in deltas -> delta <= top)%R -> private epsilon top M,
      forall epsilon delta d' (X : measurableType d') (K : kernel R Y X), (forall S, M S setT = 1) ->
        private epsilon delta M -> forall S S', neighbours S S' -> forall E, measurable E ->
        \int[M S]_y K y E <= (expR epsilon)%:E * (\int[M S']_y K y E) + delta%:E &
      forall level epsilon, (forall S, M S setT = 1) -> (0 <= epsilon)%R -> private level 0 M ->
        private epsilon (Num.max ((expR level - expR epsilon) / (expR level + 1)) 0)%R M].
Proof.
split.
- move=> prices epsilon delta seqM le le' S S' adj; exact: close_weaken le le' (N3_sequences seqM adj).
- by move=> *; exact: N3_sequences_pure.
- by move=> epsilon A deltas top; exact: N3_parallel.
- by move=> epsilon delta d' X K M1; exact: N3_post_processing.
- by move=> level epsilon M1; exact: N3_below.
Qed.

End many.
