(* Laws with the densities of pages D1 and D2 exist: the densities have finite integrals that are not 0. *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint zmodp matrix interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality mathcomp_extra set_interval.
From mathcomp.analysis Require Import reals ereal topology normedtype realfun sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Privacy Vectors Laplace Lebesgue.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section line_integral.
Variable (R : realType) (b : R).
Hypothesis b_gt0 : 0 < b.
Local Notation line := (line R).
Local Notation length := (length R).

Definition laplace_line (a : line) : R := expR (- (`|a| / b)).

Lemma measurable_laplace_line : measurable_fun setT laplace_line.
Proof.
have h : measurable_fun setT (fun a : R => expR (- (`|a| / b))).
  rewrite (_ : (fun a => _) = @expR R \o (fun a : R => (- b^-1) * `|a|)); last first.
    by apply/funext => a /=; rewrite mulNr mulrC.
  apply: measurable_fun_comp; first by apply: continuous_measurable_fun; exact: continuous_expR.
  by apply: measurable_funrM; exact: measurable_fun_normr.
exact: h.
Qed.

Let q : R := expR (- b^-1).

Let q01 : 0 <= q < 1.
Proof. by rewrite /q ltW ?expR_gt0 //= expR_lt1 oppr_lt0 invr_gt0. Qed.

(* On [n, n + 1] and on its mirror image the density is at most q^n. *)
Let right n : set line := [set` `[n%:R, n.+1%:R : R]].
Let left n : set line := [set` `[- n.+1%:R, - n%:R : R]].
Let piece n (a : line) : \bar R := ((q ^+ n)%:E * ((\1_(right n) a)%:E + (\1_(left n) a)%:E))%E.

Let measurable_right n : measurable (right n). Proof. exact: (@measurable_itv R). Qed.
Let measurable_left n : measurable (left n). Proof. exact: (@measurable_itv R). Qed.

Let piece_ge0 n a : (0 <= piece n a)%E.
Proof. by rewrite mule_ge0 ?adde_ge0 ?lee_fin // exprn_ge0 //; case/andP: q01. Qed.

Let below_pieces a : ((laplace_line a)%:E <= \sum_(n <oo) piece n a)%E.
Proof.
pose k := `|floor `|a : R| |%N.
have fl : (floor `|a : R|)%:~R = k%:R :> R.
  by rewrite /k natr_absz; congr _%:~R; apply/esym/ger0_norm; rewrite floor_ge0.
have low : k%:R <= `|a : R| by rewrite -fl floor_le.
have high : `|a : R| <= k.+1%:R by rewrite -natr1 -fl ltW // lt_succ_floor.
apply: (@le_trans _ _ (piece k a)); last first.
  apply: le_trans (nneseries_lim_ge k.+1 _); last by move=> n _; exact: piece_ge0.
  by rewrite big_nat_recr //= lee_addr // sume_ge0 // => n _; exact: piece_ge0.
have small : (laplace_line a <= q ^+ k)%R.
  rewrite /q -expRMm ler_expR mulrN ler_opp2.
  by rewrite ler_wpmul2r // invr_ge0 ltW.
have pos : (0 <= q ^+ k)%R by rewrite exprn_ge0 //; case/andP: q01.
apply: (@le_trans _ _ (q ^+ k)%:E); first by rewrite lee_fin.
rewrite /piece -EFinD -EFinM lee_fin; apply: ler_pemulr => //.
have [a0|a0] := lerP 0 (a : R).
  rewrite ger0_norm // in low high.
  rewrite indicE mem_set ?ler_addl //=.
  by rewrite /right /= in_itv /= low high.
rewrite ltr0_norm // in low high.
rewrite addrC indicE mem_set ?ler_addl //=.
by rewrite /left /= in_itv /= ler_oppl high ler_oppr low.
Qed.

Lemma laplace_line_finite : (\int[length]_a (laplace_line a)%:E < +oo)%E.
Proof.
have mpiece n : measurable_fun setT (piece n).
  by apply: measurable_funeM; apply: emeasurable_funD; exact/EFin_measurable_fun/measurable_fun_indic.
apply: (@le_lt_trans _ _ (\sum_(n <oo) \int[length]_a piece n a)%E).
  rewrite -integral_nneseries //.
  apply: ge0_le_integral => //.
  - by move=> a _; rewrite lee_fin ltW // expR_gt0.
  - by apply/EFin_measurable_fun; exact: measurable_laplace_line.
  - by move=> a _; apply: nneseries_ge0.
  - exact: ge0_emeasurable_fun_sum.
have integral_piece n : (\int[length]_a piece n a)%E = (2 * q ^+ n)%:E.
  rewrite ge0_integralM_EFin //; last 3 first.
  - by move=> a _; rewrite adde_ge0 // lee_fin.
  - by apply: emeasurable_funD; exact/EFin_measurable_fun/measurable_fun_indic.
  - by rewrite exprn_ge0 //; case/andP: q01.
  rewrite ge0_integralD //; last 4 first.
  - by move=> a _; rewrite lee_fin.
  - exact/EFin_measurable_fun/measurable_fun_indic.
  - by move=> a _; rewrite lee_fin.
  - exact/EFin_measurable_fun/measurable_fun_indic.
  rewrite !integral_indic // !setIT /= !lebesgue_measure_itv !hlength_itv /= !lte_fin.
  rewrite ltr_nat ltnS leqnn ltr_opp2 ltr_nat ltnS leqnn -!EFinB -EFinD -EFinM; congr EFin.
  have one : n.+1%:R - n%:R = 1 :> R by rewrite -natr1 addrAC subrr add0r.
  by rewrite opprK (addrC (- n%:R)) one mulrC.
rewrite (eq_eseries (fun n _ => integral_piece n)).
apply: (@le_lt_trans _ _ (2 / (1 - q))%:E); last by rewrite ltry.
apply: lime_le; first by apply: is_cvg_nneseries => n _; rewrite lee_fin mulr_ge0 ?ler0n ?exprn_ge0 //; case/andP: q01.
apply: nearW => n; rewrite sumEFin lee_fin.
have q1 : q != 1 by rewrite lt_eqF //; case/andP: q01.
have := congr1 (fun s => s n) (geometric_seriesE 2 q1); rewrite /series /= => ->.
rewrite ler_wpmul2r ?invr_ge0 ?subr_ge0 ?(ltW (andP q01).2) //.
by rewrite ger_pmulr ?ltr0n // ler_subl_addr ler_addl exprn_ge0 //; case/andP: q01.
Qed.

End line_integral.

Section space_integral.
Variable R : realType.
Local Notation vectors := (vectors R).
Local Notation lebesgue := (lebesgue R).
Local Notation length1 := (@length1 R _).
Local Open Scope ereal_scope.

Lemma integral_prepend d (f : vectors d.+1 -> \bar R) : measurable_fun setT f -> (forall x, 0 <= f x) ->
  \int[lebesgue d.+1]_x f x = \int[length R]_a \int[lebesgue d]_x f (prepend (a, x)).
Proof.
move=> mf f0; rewrite (integral_pushforward (@measurable_prepend R d)) //.
rewrite (fubini_tonelli1 (@lebesgue_sigma_finite R d)) //.
- by apply: measurable_fun_comp => //; exact: measurable_prepend.
- by move=> p; exact: f0.
Qed.

Lemma measurable_exponential d (L : vectors d -> R) (b : R) : measurable_fun setT L ->
  measurable_fun setT (fun x => expR (- (L x / b))%R).
Proof.
move=> mL; rewrite (_ : (fun x => _) = @expR R \o (fun x => ((- b^-1) * L x)%R)); last first.
  by apply/funext => x /=; rewrite mulNr mulrC.
apply: measurable_fun_comp; first by apply: continuous_measurable_fun; exact: continuous_expR.
exact: measurable_funrM.
Qed.

Lemma measurable_length1 d : measurable_fun setT (fun x : vectors d => length1 x).
Proof.
apply: measurable_sum => i; apply: (measurable_fun_comp (@measurable_fun_normr R setT)).
exact: measurable_coordinate.
Qed.

Lemma length1_prepend d (a : line R) (x : vectors d) : length1 (prepend (a, x)) = (`|a : R| + length1 x)%R.
Proof.
rewrite /Laplace.length1 big_ord_recl !mxE unlift_none; congr +%R.
by apply: eq_bigr => j _; rewrite !mxE liftK.
Qed.

Lemma product_laplace_finite d (b : R) : (0 < b)%R -> \int[lebesgue d]_x (expR (- (length1 x / b)))%:E < +oo.
Proof.
move=> b0; elim: d => [|d IH].
  rewrite integral_dirac // ?diracE ?in_setT ?mul1e ?ltry //.
  by apply/EFin_measurable_fun; apply: measurable_exponential; exact: measurable_length1.
rewrite integral_prepend; last 2 first.
- by apply/EFin_measurable_fun; apply: measurable_exponential; exact: measurable_length1.
- by move=> x; rewrite lee_fin ltW // expR_gt0.
set I := \int[_]_x _ in IH.
have I0 : 0 <= I by apply: integral_ge0 => x _; rewrite lee_fin ltW // expR_gt0.
rewrite (eq_integral (fun a => I * (laplace_line b a)%:E)) => [|a _]; last first.
  rewrite muleC -ge0_integralM_EFin //; last 3 first.
  - by move=> x _; rewrite lee_fin ltW // expR_gt0.
  - by apply/EFin_measurable_fun; apply: measurable_exponential; exact: measurable_length1.
  - by rewrite ltW // expR_gt0.
  apply: eq_integral => x _; rewrite -EFinM length1_prepend /laplace_line -expRD.
  by rewrite mulrDl opprD.
rewrite ge0_integralM //; last 2 first.
- by apply/EFin_measurable_fun; exact: measurable_laplace_line.
- by move=> a _; rewrite lee_fin ltW // expR_gt0.
apply: lte_mul_pinfty => //; first by rewrite ge0_fin_numE.
exact: laplace_line_finite.
Qed.

Lemma spherical_laplace_finite d (b : R) : (0 < b)%R ->
  \int[lebesgue d]_x (expR (- (norm (coordinates R d) x / b)))%:E < +oo.
Proof.
move=> b0; pose b' := ((Num.sqrt d%:R + 1) * b)%R.
have s1 : (0 < Num.sqrt d%:R + 1 :> R)%R by rewrite ltr_spaddr // sqrtr_ge0.
have b'0 : (0 < b')%R by rewrite mulr_gt0.
apply: le_lt_trans (product_laplace_finite d b'0).
apply: ge0_le_integral => //.
- by move=> x _; rewrite lee_fin ltW // expR_gt0.
- by apply/EFin_measurable_fun; apply: measurable_exponential; exact: measurable_norm.
- by move=> x _; rewrite lee_fin ltW // expR_gt0.
- by apply/EFin_measurable_fun; apply: measurable_exponential; exact: measurable_length1.
move=> x _; rewrite lee_fin ler_expR ler_opp2 ler_pdivr_mulr // /b' mulrCA divfK ?gt_eqF //.
apply: (le_trans (length1_norm _)); rewrite ler_wpmul2r ?(norm_ge0 (coordinates R d)) //.
by rewrite ler_addl.
Qed.

Lemma lebesgue_neq0 d : lebesgue d setT != 0.
Proof.
elim: d => [|d IH]; first by rewrite /= diracE in_setT eqe oner_eq0.
rewrite /= /pushforward preimage_setT -setMTT product_measure1E // mule_eq0 negb_or IH andbT.
have -> : length R setT = +oo by rewrite -set_itv_infty_infty /= lebesgue_measure_itv set_itv_infty_infty hlength_setT.
by [].
Qed.


(* The law with a given density. *)
Section density_law.
Variables (d : nat) (p : vectors d -> R).
Hypotheses (mp : measurable_fun setT p) (p0 : forall x, (0 < p x)%R).
Hypothesis finite : \int[lebesgue d]_x (p x)%:E < +oo.

Let mass := \int[lebesgue d]_x (p x)%:E.
Let scale : R := (fine mass)^-1%R.

Let mass_gt0 : 0 < mass.
Proof.
rewrite lt0e integral_ge0 ?andbT; last by move=> x _; rewrite lee_fin ltW.
apply/eqP => zero; have := lebesgue_neq0 d; apply/negP; rewrite negbK; apply/eqP.
have mp' : measurable_fun setT (EFin \o p) by exact/EFin_measurable_fun.
have [N [mN N0 sub]] : ae_eq (lebesgue d) setT (EFin \o p) (cst 0).
  apply/(ae_eq_integral_abs _ measurableT mp'); rewrite -zero; apply: eq_integral => x _.
  by rewrite /= ger0_norm // ltW.
rewrite (_ : setT = N) //; apply/seteqP; split=> // x _; apply: sub => /= h.
by have := h Logic.I => -[] /eqP; rewrite gt_eqF.
Qed.

Let scaled x := (scale * p x)%R.

Let scaled_ge0 x : (0 <= scaled x)%R.
Proof. by rewrite mulr_ge0 ?invr_ge0 ?fine_ge0 ?ltW. Qed.

Let measurable_scaled : measurable_fun setT scaled. Proof. exact: measurable_funrM. Qed.

Definition density_law (E : set (vectors d)) := \int[lebesgue d]_(x in E) (scaled x)%:E.

Let density_law0 : density_law set0 = 0. Proof. exact: integral_set0. Qed.

Let density_law_ge0 E : 0 <= density_law E.
Proof. by apply: integral_ge0 => x _; rewrite lee_fin. Qed.

Let total : density_law setT = 1.
Proof.
rewrite /density_law /scaled; under eq_integral do rewrite EFinM.
rewrite ge0_integralM_EFin //; last 3 first.
- by move=> x _; rewrite lee_fin ltW.
- exact/EFin_measurable_fun.
- by rewrite invr_ge0 fine_ge0 // ltW.
rewrite -/mass -[mass in LHS](@fineK _ mass) -?EFinM ?mulVf //; last by rewrite ge0_fin_numE // ltW.
by rewrite gt_eqF // fine_gt0 // mass_gt0.
Qed.

Let density_law_sigma_additive : semi_sigma_additive density_law.
Proof.
move=> F mF disjoint mUF; rewrite /density_law ge0_integral_bigcup //; last 2 first.
- split; first by apply: measurable_funTS; exact/EFin_measurable_fun.
  apply: (@le_lt_trans _ _ (density_law setT)); last by rewrite total ltry.
  rewrite (eq_integral (fun x => (scaled x)%:E)) => [|x _]; last by rewrite /= ger0_norm.
  by apply: subset_integral => //; [exact/EFin_measurable_fun|move=> x _; rewrite lee_fin].
- by move=> x _; rewrite lee_fin.
by apply: is_cvg_nneseries => n _; exact: density_law_ge0.
Qed.

HB.instance Definition _ := isMeasure.Build _ _ _ density_law
  density_law0 density_law_ge0 density_law_sigma_additive.

Lemma density_law_exists : exists (noise : {measure set (vectors d) -> \bar R}) (c : R),
  [/\ noise setT = 1, (0 <= c)%R & has_density (lebesgue d) noise (fun x => c * p x)%R].
Proof.
exists [the measure _ _ of density_law], scale; split=> //.
by rewrite invr_ge0 fine_ge0 // ltW.
Qed.

End density_law.

Theorem spherical_laplace_exists d (b : R) : (0 < b)%R ->
  exists (noise : {measure set (vectors d) -> \bar R}) (c : R), [/\ noise setT = 1, (0 <= c)%R &
    has_density (lebesgue d) noise (fun k => c * expR (- (norm (coordinates R d) k / b)))%R].
Proof.
move=> b0; apply: density_law_exists; last exact: spherical_laplace_finite.
  by apply: measurable_exponential; exact: measurable_norm.
by move=> x; exact: expR_gt0.
Qed.

Theorem laplace_exists d (b : R) : (0 < b)%R ->
  exists (noise : {measure set (vectors d) -> \bar R}) (c : R), [/\ noise setT = 1, (0 <= c)%R &
    has_density (lebesgue d) noise (fun k => c * \prod_i expR (- (`|(k : 'rV[R]_d) 0 i| / b)))%R].
Proof.
move=> b0; have [||| noise [c [noise1 c0 density]]] := @density_law_exists d (fun x => expR (- (length1 x / b)))%R.
- by apply: measurable_exponential; exact: measurable_length1.
- by move=> x; exact: expR_gt0.
- exact: product_laplace_finite.
exists noise, c; split => //; suff <- : (fun x => c * expR (- (length1 x / b)))%R =
  (fun k => c * \prod_i expR (- (`|(k : 'rV[R]_d) 0 i| / b)))%R by [].
by apply/funext => k; rewrite product_exponential.
Qed.

End space_integral.
