(* Page A2, (iv), (v) and (vii): the logistic and the multinomial loss. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum interval.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals topology normedtype derive realfun sequences exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Losses Radius Gradients Groups Diameters Formulas.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope ring_scope.

Section exponential.
Variable R : realType.
Implicit Types (a d m x y u s t reach : R).
Add Field reals : (real_field R).

(* The exponential lies above its tangents. *)
Lemma expR_tangent0 x : 1 + x <= expR x.
Proof.
have [x0|x0] := lerP 0 x; first exact: expR_ge1Dx.
have [c cx eq] : exists2 c, c \in `[x, 0] & expR 0 - expR x = expR c * (0 - x).
  apply: (@MVT_segment R expR expR); first exact: ltW.
  by apply: continuous_subspaceT; exact: continuous_expR.
move: cx; rewrite in_itv /= => /andP[_ c0].
have c1 : expR c <= 1 by rewrite -(expR0 R) ler_expR.
move: eq; rewrite expR0 sub0r => eq; have n0 : 0 <= - x by rewrite oppr_ge0 ltW.
have := ler_wpmul2r n0 c1; rewrite -eq mul1r => h.
by apply: (@le_by1 _ _ _ _ _ h); real_ring R.
Qed.

Lemma expR_tangent a x : expR a * (1 + (x - a)) <= expR x.
Proof.
have -> : expR x = expR a * expR (x - a) by rewrite -expRD addrC subrK.
by rewrite ler_pmul2l ?expR_gt0 //; exact: expR_tangent0.
Qed.

Definition sigmoid x : R := (1 + expR (- x))^-1.

Lemma sigmoid_denominator x : 0 < 1 + expR (- x).
Proof. by rewrite addr_gt0 ?ltr01 ?expR_gt0. Qed.

Lemma sigmoid_between x : 0 < sigmoid x <= 1.
Proof.
rewrite invr_gt0 sigmoid_denominator invf_le1 ?sigmoid_denominator // ler_addl ltW //; exact: expR_gt0.
Qed.

Lemma sigmoid_le x y : x <= y -> sigmoid x <= sigmoid y.
Proof.
by move=> xy; rewrite lef_pinv ?posrE ?sigmoid_denominator // ler_add2l ler_expR ler_opp2.
Qed.

Lemma sigmoidN x : sigmoid (- x) = 1 - sigmoid x.
Proof.
rewrite /sigmoid opprK expRN; set e := expR x; have e0 : 0 < e by exact: expR_gt0.
have e1 : 0 < e + 1 by rewrite addr_gt0 ?ltr01.
have e1' : 0 < 1 + e by rewrite addrC.
by real_fields R; apply/eqP; rewrite gt_eqF.
Qed.

(* log(1 + e^x) and its slope. *)
Definition softplus x : R := ln (1 + expR x).

Lemma softplus_subslope x : subslope softplus x (sigmoid x).
Proof.
move=> x'; set s := sigmoid x; have /andP[s0 s1] := sigmoid_between x; rewrite -/s in s0 s1.
have e0 := expR_gt0 x; have e1 : 0 < 1 + expR x by rewrite addr_gt0 ?ltr01.
have pos : 0 < 1 + expR x' by rewrite addr_gt0 ?ltr01 ?expR_gt0.
pose c := s * (x' - x).
have -> : softplus x + s * (x' - x) = ln ((1 + expR x) * expR c).
  by rewrite lnM ?posrE ?expR_gt0 // expK.
rewrite /softplus ler_ln ?posrE ?mulr_gt0 ?expR_gt0 //.
have share : s * (1 + expR x) = expR x.
  rewrite /s /sigmoid expRN; move: (expR x) e0 e1 => e e0 e1; have e1' : 0 < e + 1 by rewrite addrC.
  by real_fields R; apply/eqP; rewrite gt_eqF.
have t1 := expR_tangent c 0; have t2 := ler_wpmul2l (ltW e0) (expR_tangent c (x' - x)).
rewrite expR0 in t1; rewrite -[expR x * expR (x' - x)]expRD [x + _]addrC subrK in t2.
have := ler_add t1 t2; apply: le_trans; rewrite le_eqVlt; apply/orP; left; apply/eqP.
have -> : expR c * (1 + (0 - c)) + expR x * (expR c * (1 + (x' - x - c))) =
  expR c * ((1 + expR x) + expR x * (x' - x) - (1 + expR x) * c) by real_ring R.
have -> : expR x * (x' - x) = (1 + expR x) * c by rewrite -{1}share /c; real_ring R.
by real_ring R.
Qed.

Lemma sigmoid_lipschitz a b : `|sigmoid a - sigmoid b| <= 1 * `|a - b|.
Proof.
rewrite mul1r; wlog ab : a b / b <= a.
  move=> h; have [/h //|/ltW /h le] := leP b a.
  by rewrite (distrC (sigmoid a)) (distrC a).
have up := sigmoid_le ab; rewrite !ger0_norm ?subr_ge0 //.
have /andP[b0 b1] := sigmoid_between b; have /andP[a0 a1] := sigmoid_between a.
(* the quotient of the denominators is at most e^(a - b) *)
have quotient : sigmoid a * expR (- (a - b)) <= sigmoid b.
  rewrite /sigmoid mulrC ler_pdivr_mulr ?sigmoid_denominator // mulrC ler_pdivl_mulr ?sigmoid_denominator //.
  rewrite mulrDr mulr1 -expRD (_ : - (a - b) - b = - a); last by real_ring R.
  rewrite ler_add2r -(expR0 R) ler_expR oppr_le0 subr_ge0 //.
have tangent := ler_wpmul2l (ltW a0) (expR_tangent0 (- (a - b))).
have d0 : 0 <= a - b by rewrite subr_ge0.
have small : sigmoid a * (a - b) <= a - b by rewrite ler_pimull.
by apply: (@le_by2 _ _ _ _ _ _ _ (le_trans tangent quotient) small); real_ring R.
Qed.

(* The logistic loss at the label y, 1 or -1. *)
Definition logistic y m : R := softplus (- y * m).
Definition logistic_slope y m : R := - y * sigmoid (- y * m).

Section logistic.
Variable y : R.
Hypothesis y1 : `|y| = 1.

Lemma logistic_subslope m : subslope (logistic y) m (logistic_slope y m).
Proof.
have := @subslope_affine R softplus (- y) 0 1 (sigmoid (- y * m)) m ler01.
rewrite addr0 => /(_ (softplus_subslope _)) h m'; have := h m'.
by rewrite !mul1r !addr0 /logistic /logistic_slope (mulrC (sigmoid _)).
Qed.

Lemma logistic_lipschitz a b : `|logistic_slope y a - logistic_slope y b| <= 1 * `|a - b|.
Proof.
rewrite -mulrBr normrM normrN y1 mul1r; apply: le_trans (sigmoid_lipschitz _ _) _.
by rewrite -mulrBr normrM normrN y1 mul1r.
Qed.

Let margin m reach : `|m| <= reach -> - y * m <= reach.
Proof. by move=> mr; rewrite (le_trans (ler_norm _)) // normrM normrN y1 mul1r. Qed.

Lemma logistic_slope_bound m reach : `|m| <= reach -> `|logistic_slope y m| <= sigmoid reach.
Proof.
move=> mr; have /andP[/ltW pos _] := sigmoid_between (- y * m).
rewrite normrM normrN y1 mul1r (ger0_norm pos).
by apply: sigmoid_le; exact: margin.
Qed.

(* The pull x/(1 + e^x) of a margin x; everywhere at most u with u e^(1 + u) >= 1, which Lambert's W(1/e) is the least
   of; and largest at the end of the reach as long as (reach - 1) e^reach <= 1. *)
Lemma logistic_pull_top u x : 0 <= u -> 1 <= u * expR (1 + u) -> x / (1 + expR x) <= u.
Proof.
move=> u0 top; rewrite ler_pdivr_mulr ?addr_gt0 ?ltr01 ?expR_gt0 //.
have t := ler_wpmul2l u0 (expR_tangent (1 + u) x).
have [x1|x1] := lerP 0 (x - u); last first.
  have e := mulr_ge0 u0 (ltW (expR_gt0 x)); have x1' := ltW x1.
  by apply: (@le_by2 _ _ _ _ _ _ _ e x1'); real_ring R.
have t' := ler_wpmul2r x1 top.
by apply: (@le_by2 _ _ _ _ _ _ _ t t'); real_ring R.
Qed.

Lemma logistic_pull_rising x r : 0 <= x <= r -> (r - 1) * expR r <= 1 -> x / (1 + expR x) <= r / (1 + expR r).
Proof.
move=> /andP[x0 xr] turn; have r0 := le_trans x0 xr.
have p (z : R) : 0 < 1 + expR z by rewrite addr_gt0 ?ltr01 ?expR_gt0.
rewrite (ler_pdivr_mulr _ _ (p x)) mulrAC (ler_pdivl_mulr _ _ (p r)).
have t := ler_wpmul2l r0 (expR_tangent r x).
have d0 : 0 <= r - x by rewrite subr_ge0.
have t' := ler_wpmul2l d0 turn.
by apply: (@le_by2 _ _ _ _ _ _ _ t t'); real_ring R.
Qed.

Definition logistic_pull top at_reach reach : R := if at_reach <= reach then top else reach / (1 + expR reach).

Lemma logistic_pulls top at_reach m reach : 0 <= top -> 1 <= top * expR (1 + top) ->
  (at_reach - 1) * expR at_reach <= 1 -> `|m| <= reach ->
  - (m * logistic_slope y m) <= logistic_pull top at_reach reach.
Proof.
move=> top0 topP turn mr; set x := y * m.
have -> : - (m * logistic_slope y m) = x / (1 + expR x).
  have e : sigmoid (- y * m) = (1 + expR x)^-1 by rewrite /sigmoid mulNr opprK.
  by rewrite /logistic_slope e; move: (_^-1) => i; rewrite /x; real_ring R.
rewrite /logistic_pull; case: ifPn => [_|]; first exact: logistic_pull_top.
rewrite -ltNge => /ltW before; have r0 := le_trans (normr_ge0 m) mr.
have xr : x <= reach by rewrite (le_trans (ler_norm _)) // normrM y1 mul1r.
have pos : 0 < (1 + expR reach)^-1 by rewrite invr_gt0 addr_gt0 ?ltr01 ?expR_gt0.
have [x0|x0] := lerP 0 x.
  apply: logistic_pull_rising; rewrite ?x0 //.
  have [r1|r1] := lerP 0 (reach - 1); last first.
    by apply: (@le_trans _ _ 0); rewrite ?ler01 // pmulr_lle0 ?expR_gt0 // ltW.
  apply: le_trans turn; apply: ler_pmul => //; rewrite ?ler_expR ?ler_add2r //.
  by rewrite ltW // expR_gt0.
apply: (@le_trans _ _ 0); last by rewrite mulr_ge0 // ltW.
by rewrite pmulr_lle0 ?ltW // invr_gt0 addr_gt0 ?ltr01 ?expR_gt0.
Qed.

(* Beyond its peak the pull falls. *)
Lemma logistic_pull_falling x r : 0 <= r <= x -> 1 <= (r - 1) * expR r -> x / (1 + expR x) <= r / (1 + expR r).
Proof.
move=> /andP[r0 rx] turn; have p (z : R) : 0 < 1 + expR z by rewrite addr_gt0 ?ltr01 ?expR_gt0.
rewrite (ler_pdivr_mulr _ _ (p x)) mulrAC (ler_pdivl_mulr _ _ (p r)).
have t := ler_wpmul2l r0 (expR_tangent r x); have d0 : 0 <= x - r by rewrite subr_ge0.
have t' := ler_wpmul2l d0 turn.
by apply: (@le_by2 _ _ _ _ _ _ _ t t'); real_ring R.
Qed.

(* The logistic loss with its slope clipped at sigmoid(corner): linear beyond. *)
Variable corner : R.
Let cap := sigmoid corner.

Definition clipped_softplus x : R := softplus (Num.min x corner) + cap * Num.max 0 (x - corner).

Lemma clipped_softplus_subslope x : subslope clipped_softplus x (Num.min (sigmoid x) cap).
Proof.
have low z : z <= corner -> clipped_softplus z = softplus z.
  by move=> zc; rewrite /clipped_softplus (min_idPl zc) (max_idPl _) ?subr_le0 // mulr0 addr0.
have high z : corner <= z -> clipped_softplus z = softplus corner + cap * (z - corner).
  by move=> cz; rewrite /clipped_softplus (min_idPr cz) (max_idPr _) ?subr_ge0.
move=> x'; have [xc|/ltW cx] := leP x corner.
  have s := sigmoid_le xc; rewrite (min_idPl s) (low _ xc).
  have [/low -> |/ltW cx'] := leP x' corner; first exact: softplus_subslope.
  rewrite (high _ cx'); have e := softplus_subslope x corner.
  have d : 0 <= x' - corner by rewrite subr_ge0.
  by apply: (@le_by2 _ _ _ _ _ _ _ e (ler_wpmul2r d s)); rewrite /cap; real_ring R.
have s := sigmoid_le cx; rewrite (min_idPr s) (high _ cx).
have [/low -> |/ltW /high ->] := leP x' corner.
  by apply: (@le_by1 _ _ _ _ _ (softplus_subslope corner x')); rewrite /cap; real_ring R.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /cap; real_ring R.
Qed.

Definition clipped_logistic m : R := clipped_softplus (- y * m).
Definition clipped_logistic_slope m : R := - y * Num.min (sigmoid (- y * m)) cap.

Lemma clipped_logistic_subslope m : subslope clipped_logistic m (clipped_logistic_slope m).
Proof.
have := @subslope_affine R clipped_softplus (- y) 0 1 (Num.min (sigmoid (- y * m)) cap) m ler01.
rewrite addr0 => /(_ (clipped_softplus_subslope _)) h m'; have := h m'.
by rewrite !mul1r !addr0 /clipped_logistic /clipped_logistic_slope (mulrC (Num.min _ _)).
Qed.

Lemma clipped_logistic_lipschitz a b : `|clipped_logistic_slope a - clipped_logistic_slope b| <= 1 * `|a - b|.
Proof.
rewrite -mulrBr normrM normrN y1 mul1r.
have step (u v : R) : Num.min u cap - Num.min v cap <= `|u - v|.
  rewrite ler_subl_addl; have [_|_] := leP v cap; last by rewrite ler_paddr // le_minl lexx orbT.
  by rewrite -ler_subl_addl (le_trans _ (ler_norm _)) // ler_add2r le_minl lexx.
apply: (@le_trans _ _ `|sigmoid (- y * a) - sigmoid (- y * b)|).
  by rewrite ler_norml step ler_oppl opprB distrC step.
apply: le_trans (sigmoid_lipschitz _ _) _.
by rewrite mul1r mul1r -mulrBr normrM normrN y1 mul1r.
Qed.

Lemma clipped_logistic_slope_bound m reach : `|m| <= reach ->
  `|clipped_logistic_slope m| <= Num.min cap (sigmoid reach).
Proof.
move=> mr; have /andP[/ltW pos _] := sigmoid_between (- y * m); have /andP[/ltW cap0 _] := sigmoid_between corner.
rewrite normrM normrN y1 mul1r ger0_norm; last by rewrite le_minr pos.
rewrite le_minr !le_minl lexx orbT /=; apply/orP; left.
by apply: sigmoid_le; exact: margin.
Qed.

(* Its pull: the logistic loss's, or that at the corner, whose margin is -corner, or that at the end of the reach. *)
Lemma clipped_logistic_pulls m reach p : `|m| <= reach ->
  [\/ 0 <= p /\ 1 <= p * expR (1 + p),
      [/\ p = - corner * cap, corner <= 0 & 1 <= (- corner - 1) * expR (- corner)] |
      p = reach * Num.min cap (sigmoid (- reach)) /\ (reach <= - corner \/ (reach - 1) * expR reach <= 1)] ->
  - (m * clipped_logistic_slope m) <= p.
Proof.
move=> mr; set z := y * m; set q := Num.min (sigmoid (- z)) cap.
have -> : - (m * clipped_logistic_slope m) = z * q.
  have e : - y * m = - z by rewrite mulNr.
  by rewrite /clipped_logistic_slope e -/q; move: q => q; rewrite /z; real_ring R.
have /andP[/ltW s0 _] := sigmoid_between (- z); have /andP[/ltW c0 _] := sigmoid_between corner; rewrite -/cap in c0.
have q0 : 0 <= q by rewrite le_minr s0.
have qs : q <= sigmoid (- z) by rewrite le_minl lexx.
have qc : q <= cap by rewrite le_minl lexx orbT.
have zr : z <= reach by rewrite (le_trans (ler_norm _)) // normrM y1 mul1r.
have r0 := le_trans (normr_ge0 m) mr.
have at_margin x : x * sigmoid (- x) = x / (1 + expR x) by rewrite /sigmoid opprK.
have [z0|/ltW z0] := leP z 0.
  move=> cases; apply: (@le_trans _ _ 0); first by rewrite mulr_le0_ge0.
  case: cases => [[p0 _] //|[-> corner0 _]|[-> _]]; first by rewrite mulr_ge0 // oppr_ge0.
  by rewrite mulr_ge0 // le_minr c0; case/andP: (sigmoid_between (- reach)) => /ltW.
have zs := ler_wpmul2l z0 qs; rewrite at_margin in zs.
move=> [[p0 top]|[-> corner0 turn]|[-> before]].
- exact: le_trans zs (logistic_pull_top _ p0 top).
- have [zc|/ltW cz] := leP z (- corner); first by apply: ler_pmul.
  apply: le_trans zs _; rewrite /cap -[corner in sigmoid corner]opprK at_margin.
  by apply: logistic_pull_falling; rewrite // oppr_ge0 corner0.
- have zqc : z * q <= reach * cap by exact: ler_pmul.
  have [_|_] := leP cap (sigmoid (- reach)); first exact: zqc.
  case: before => [before|turn].
    by apply: (le_trans zqc); rewrite ler_wpmul2l // /cap; apply: sigmoid_le; rewrite ler_oppr.
  by apply: le_trans zs _; rewrite at_margin; apply: logistic_pull_rising; rewrite ?z0.
Qed.

End logistic.
End exponential.

(* Rows of norm at most B and labels 1 and -1. *)
Section logistic_rows.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Variables (Z : Type) (feature : Z -> V) (label : Z -> R) (B mu : R) (penalty : V -> R) (C : V -> Prop).
Hypotheses (B0 : 0 <= B) (featureB : forall z, norm ip (feature z) <= B) (labels : forall z, `|label z| = 1).
Hypotheses (convexC : convex_set C) (convexr : strongly_convex ip mu C penalty).
Local Notation norm := (norm ip).
Local Notation loss := (row_loss ip (fun z => logistic (label z)) feature).
Local Notation gradient := (is_gradient ip (fun z => logistic_slope (label z)) feature).

(* Twice the longest gradient; the table of part (iv), which is smaller, is not formalised. *)
Theorem A2_logistic r : rows_as_in_A2 ip loss gradient penalty C (fun w => norm w <= r) (2 * (B * sigmoid (B * r))) mu.
Proof.
apply: (smooth_rows ler01 featureB (fun z => logistic_subslope (label z))
  (fun z => logistic_lipschitz (labels z)) convexC convexr) => z z' w wr.
have size z'' : norm (row_gradient ip (fun z => logistic_slope (label z)) feature z'' w) <= B * sigmoid (B * r).
  rewrite normZ mulrC; apply: ler_pmul; rewrite ?norm_ge0 //; apply: logistic_slope_bound => //.
  by apply: le_trans (prediction_size featureB z'' w) _; rewrite ler_wpmul2l.
apply: (le_trans (norm_triangle _ _ _)); rewrite normN mulr_natl mulr2n; exact: ler_add.
Qed.

(* Lemma R with the code's two constants, of which these two inequalities are asked. *)
Theorem A2_logistic_radius (top turn : R) n (S : 'I_n -> Z) r w :
  0 <= top -> 1 <= top * expR (1 + top) -> (turn - 1) * expR turn <= 1 ->
  (0 < n)%N -> 0 < mu -> minimiser C penalty 0 -> minimiser C (objective loss penalty S) w -> norm w <= r ->
  norm w <= Num.sqrt (logistic_pull top turn (B * r) / mu).
Proof.
move=> top0 topP turnP n0 mu0 min0.
apply: (smooth_radius B0 ler01 featureB (fun z => logistic_subslope (label z))
  (fun z => logistic_lipschitz (labels z)) n0 mu0 convexC convexr min0) => z m mr.
exact: logistic_pulls.
Qed.

(* The logistic loss with clipped slopes: 2 B cap as soon as the cap is in reach. *)
Theorem A2_clipped_logistic corner r : rows_as_in_A2 ip
  (row_loss ip (fun z => clipped_logistic (label z) corner) feature)
  (is_gradient ip (fun z => clipped_logistic_slope (label z) corner) feature) penalty C (fun w => norm w <= r)
  (2 * (B * Num.min (sigmoid corner) (sigmoid (B * r)))) mu.
Proof.
apply: (smooth_rows ler01 featureB (fun z => clipped_logistic_subslope (label z) corner)
  (fun z => clipped_logistic_lipschitz (labels z) corner) convexC convexr) => z z' w wr.
have size z'' : norm (row_gradient ip (fun z => clipped_logistic_slope (label z) corner) feature z'' w)
    <= B * Num.min (sigmoid corner) (sigmoid (B * r)).
  rewrite normZ mulrC; apply: ler_pmul; rewrite ?norm_ge0 //; apply: clipped_logistic_slope_bound => //.
  by apply: le_trans (prediction_size featureB z'' w) _; rewrite ler_wpmul2l.
apply: (le_trans (norm_triangle _ _ _)); rewrite normN mulr_natl mulr2n; exact: ler_add.
Qed.

Theorem A2_clipped_logistic_radius corner (p : R) n (S : 'I_n -> Z) r w :
  [\/ 0 <= p /\ 1 <= p * expR (1 + p),
      [/\ p = - corner * sigmoid corner, corner <= 0 & 1 <= (- corner - 1) * expR (- corner)] |
      p = B * r * Num.min (sigmoid corner) (sigmoid (- (B * r))) /\
      (B * r <= - corner \/ (B * r - 1) * expR (B * r) <= 1)] ->
  (0 < n)%N -> 0 < mu -> minimiser C penalty 0 ->
  minimiser C (objective (row_loss ip (fun z => clipped_logistic (label z) corner) feature) penalty S) w ->
  norm w <= r -> norm w <= Num.sqrt (p / mu).
Proof.
move=> pull n0 mu0 min0 min wr; have r0 := le_trans (norm_ge0 ip w) wr.
apply: (smooth_radius B0 ler01 featureB (fun z => clipped_logistic_subslope (label z) corner)
  (fun z => clipped_logistic_lipschitz (labels z) corner) n0 mu0 convexC convexr min0 _ min wr) => z m mr.
exact: clipped_logistic_pulls mr pull.
Qed.

End logistic_rows.
