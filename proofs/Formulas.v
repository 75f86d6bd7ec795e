(* Page A2, (iii), (v) and (vi): the constants Gam and the radius of single losses of one prediction, in the code's form.
   The losses whose slope is a clipped residual are exact there; hinge and absolute loss are the Lipschitz ones. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Losses Radius Gradients Groups Diameters.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section smooth_rows.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Implicit Types (w h s x : V) (m r reach : R).
Add Field reals : (real_field R).
Local Notation "<< x , y >>" := (dot ip x y) (at level 0, x at level 99, y at level 99).
Local Notation norm := (norm ip).

(* A convex, smooth loss leaves every point along its gradient. *)
Lemma smooth_slopes beta (f : V -> R) g : 0 <= beta -> smooth ip beta f g -> slopes ip (fun w s => s = g w) f.
Proof.
move=> beta0 fg; apply: gradient_slopes => w h e e0; pose c := beta / 2 * norm h ^+ 2.
have c0 : 0 <= c by rewrite mulr_ge0 ?sqr_ge0 // mulr_ge0 // invr_ge0 ler0n.
have c1 : 0 < c + 1 by rewrite ltr_paddl // ltr01.
exists (e / (c + 1)) => [|t /andP[t0 small]]; first exact: divr_gt0.
have step : w + t *: h - w = t *: h by rewrite addrAC subrr add0r.
have above := parabola_above w (w + t *: h) beta0 fg; rewrite step dotZr normZ exprMn (ger0_norm (ltW t0)) in above.
have [_ /(_ (w + t *: h) I)] := fg.1 w; rewrite step dotZr => below.
rewrite ger0_norm; last by apply: (@le_by1 _ _ _ _ _ below); set y := w + _; real_ring R.
have tc : t * c <= e.
  apply: (@le_trans _ _ (e / (c + 1) * c)); first by rewrite ler_wpmul2r.
  rewrite -mulrA ler_pimulr ?(ltW e0) // mulrC ler_pdivr_mulr // mul1r ler_addl; exact: ler01.
have h2 := ler_wpmul2l (ltW t0) tc.
apply: (@le_by2 _ _ _ _ _ _ _ above h2); rewrite /c; set y := w + _; real_fields R.
Qed.

(* Slopes at every prediction that lie below the function make it convex. *)
Lemma subslope_convex (phi slope : R -> R) : (forall m, subslope phi m (slope m)) -> convex_line phi.
Proof.
move=> sub a b t /andP[t0 t1]; set m := a + t * (b - a); have s0 : 0 <= 1 - t by rewrite subr_ge0.
have ha := ler_wpmul2l s0 (sub m a); have hb := ler_wpmul2l t0 (sub m b).
by apply: (@le_by2 _ _ _ _ _ _ _ ha hb); rewrite /m; real_ring R.
Qed.

(* Rows of norm at most B, with a loss of the prediction that has a slope everywhere. *)
Variables (Z : Type) (phi slope : Z -> R -> R) (feature : Z -> V) (B curvature : R).
Hypotheses (B0 : 0 <= B) (curvature0 : 0 <= curvature) (featureB : forall z, norm (feature z) <= B).
Hypothesis slopeP : forall z m, subslope (phi z) m (slope z m).
Hypothesis slope_lipschitz : forall z a b, `|slope z a - slope z b| <= curvature * `|a - b|.

Definition row_loss z w := phi z << w, feature z >>.
Definition row_gradient z w := slope z << w, feature z >> *: feature z.
Definition is_gradient z w s := s = row_gradient z w.

Lemma row_smooth z : smooth ip (curvature * B ^+ 2) (row_loss z) (row_gradient z).
Proof. exact: prediction_smooth. Qed.

Lemma prediction_size z w : `| << w, feature z >> | <= B * norm w.
Proof.
have h := dot_norm ip w (feature z); have h' := dot_norm ip (- w) (feature z).
rewrite normN dotNl in h'; rewrite ler_norml ler_oppl mulrC.
have up : norm w * norm (feature z) <= norm w * B by rewrite ler_wpmul2l ?norm_ge0.
by rewrite (le_trans h' up) (le_trans h up).
Qed.

(* With a gradient diameter, such rows are as page A2 asks. *)
Lemma smooth_rows (penalty : V -> R) (C D : V -> Prop) (Gam mu : R) : convex_set C -> strongly_convex ip mu C penalty ->
  (forall z z' w, D w -> norm (row_gradient z w - row_gradient z' w) <= Gam) ->
  rows_as_in_A2 ip row_loss is_gradient penalty C D Gam mu.
Proof.
move=> convexC convexr diameter; split=> //.
- by move=> z; apply: prediction_convex; exact: subslope_convex (slopeP z).
- move=> z; apply: smooth_slopes (row_smooth z); by rewrite mulr_ge0 ?sqr_ge0.
- by move=> w z z' s s' Dw -> ->; exact: diameter.
Qed.

Lemma smooth_pull z w s p reach : `| << w, feature z >> | <= reach ->
  (forall m, `|m| <= reach -> - (m * slope z m) <= p) -> is_gradient z w s -> - << s, w >> <= p.
Proof. by move=> near pull ->; rewrite dotZl (dotC ip (feature z)) mulrC; exact: pull. Qed.

(* Lemma R as the iteration of the page takes it: a bound r on minimisers gives a better one. *)
Theorem smooth_radius (penalty : V -> R) (C : V -> Prop) n (S : 'I_n -> Z) (mu r p : R) w : (0 < n)%N -> 0 < mu ->
  convex_set C -> strongly_convex ip mu C penalty -> minimiser C penalty 0 ->
  (forall z m, `|m| <= B * r -> - (m * slope z m) <= p) ->
  minimiser C (objective row_loss penalty S) w -> norm w <= r -> norm w <= Num.sqrt (p / mu).
Proof.
move=> n0 mu0 convexC convexr min0 pull min wr.
have square : mu * norm w ^+ 2 <= p.
  apply: (lemma_R n0 convexC convexr min0 _ _ min) => [z|z s].
    by apply: smooth_slopes (row_smooth z); rewrite mulr_ge0 ?sqr_ge0.
  apply: (@smooth_pull z w s p (B * r)); last exact: pull.
  by apply: le_trans (prediction_size z w) _; rewrite ler_wpmul2l.
rewrite -[norm w]ger0_norm ?norm_ge0 // -sqrtr_sqr; apply: ler_wsqrtr.
by rewrite ler_pdivl_mulr // mulrC.
Qed.

End smooth_rows.

(* The loop of page A2, (v): a map that keeps every bound of x a bound, from any bound on, however often. *)
Theorem radius_iteration (R : realType) (step : R -> R) (x r0 : R) k :
  (forall r, x <= r -> x <= step r) -> x <= r0 -> x <= iter k step r0.
Proof. by move=> better x0; elim: k => //= k; exact: better. Qed.

(* A residual clipped to an interval, and the convex function that has it for a slope. *)
Section clipped.
Variable R : realType.
Implicit Types (lo hi r m y K Y t q reach b : R).
Add Field reals : (real_field R).

Definition clip lo hi r : R := Num.max lo (Num.min hi r).
Definition envelope lo hi r : R := clip lo hi r * (r - clip lo hi r / 2).

Lemma clip_between lo hi r : lo <= hi -> lo <= clip lo hi r <= hi.
Proof. by move=> le; rewrite le_maxr lexx le_maxl le le_minl lexx. Qed.

Lemma clip_lipschitz lo hi a b : `|clip lo hi a - clip lo hi b| <= `|a - b|.
Proof.
have low u v : Num.min hi u <= Num.min hi v + `|u - v|.
  have [_|_] := leP hi v; first by rewrite ler_paddr // le_minl lexx.
  by rewrite -ler_subl_addl (le_trans _ (ler_norm _)) // ler_add2r le_minl lexx orbT.
have step u v : clip lo hi u - clip lo hi v <= `|u - v|.
  rewrite ler_subl_addl {1}/clip le_maxl ler_paddr ?le_maxr ?lexx //=.
  by rewrite (le_trans (low u v)) // ler_add2r le_maxr lexx orbT.
by rewrite ler_norml step ler_oppl opprB distrC step.
Qed.

(* The clipped number is the nearest of the interval. *)
Lemma clip_nearest lo hi r s : lo <= s <= hi -> 0 <= (clip lo hi r - s) * (r - clip lo hi r).
Proof.
move=> /andP[los shi]; have lohi := le_trans los shi; rewrite /clip; have [hir|rhi] := leP hi r.
  by rewrite (max_idPr lohi) mulr_ge0 // subr_ge0.
have [lor|rlo] := leP lo r; first by rewrite subrr mulr0.
by rewrite mulr_le0 // subr_le0 // ltW.
Qed.

Lemma envelope_subslope lo hi r : lo <= hi -> subslope (envelope lo hi) r (clip lo hi r).
Proof.
move=> lohi r'; have near := clip_nearest r' (clip_between r lohi).
have half : 0 <= 2^-1 :> R by rewrite invr_ge0 ler0n.
have square := ler_wpmul2l half (sqr_ge0 (clip lo hi r' - clip lo hi r)).
by apply: (@le_by2 _ _ _ _ _ _ _ near square); rewrite /envelope; real_fields R.
Qed.

(* Subslopes of a multiple, after an affine change of the prediction. *)
Lemma subslope_affine (f : R -> R) (u v c s m : R) : 0 <= c -> subslope f (u * m + v) s ->
  subslope (fun m => c * f (u * m + v)) m (c * (s * u)).
Proof.
move=> c0 sub m'; have h := ler_wpmul2l c0 (sub (u * m' + v)).
by apply: (@le_by1 _ _ _ _ _ h); real_ring R.
Qed.

(* Huber's loss and its kin: the residual stretched by t, clipped at K, divided by q. Huber: t = q = 1; clipped squared:
   t = 2, q = 1; smooth absolute of width K: t = 1, q = K. *)
Definition residual_loss t q K y m : R := envelope (- K) K (t * m - t * y) / (t * q).
Definition residual_slope t q K y m : R := clip (- K) K (t * m - t * y) / q.

Section residual.
Variables (t q K : R).
Hypotheses (t0 : 0 < t) (q0 : 0 < q) (K0 : 0 <= K).
Let KK : - K <= K. Proof. by rewrite (le_trans _ K0) // oppr_le0. Qed.

Lemma residual_subslope y m : subslope (residual_loss t q K y) m (residual_slope t q K y m).
Proof.
have c0 : 0 <= (t * q)^-1 by rewrite invr_ge0 ltW // mulr_gt0.
have := subslope_affine (m := m) (v := - (t * y)) c0 (@envelope_subslope _ _ (t * m - t * y) KK).
have -> : (t * q)^-1 * (clip (- K) K (t * m - t * y) * t) = residual_slope t q K y m.
  by rewrite /residual_slope; real_fields R; apply/eqP; rewrite gt_eqF.
by move=> h m'; have := h m'; rewrite /residual_loss !(mulrC _^-1).
Qed.

Lemma residual_lipschitz y a b : `|residual_slope t q K y a - residual_slope t q K y b| <= t / q * `|a - b|.
Proof.
rewrite -mulrBl normrM (ger0_norm (_ : 0 <= q^-1)) ?invr_ge0 ?(ltW q0) // mulrAC ler_wpmul2r ?invr_ge0 ?(ltW q0) //.
apply: le_trans (clip_lipschitz _ _ _ _) _.
by rewrite opprB addrA subrK -mulrBr normrM ger0_norm ?(ltW t0).
Qed.

Lemma residual_limited Y y m : `|y| <= Y -> limited t q K Y (residual_slope t q K y m) m.
Proof.
rewrite ler_norml => /andP[yl yh]; rewrite /limited /residual_slope mulrC divfK ?gt_eqF //.
set r := t * m - t * y; have /andP[l h] := clip_between r KK.
split; first by rewrite ler_norml l.
- rewrite pmulr_lgt0 ?invr_gt0 // => pos; apply: (@le_trans _ _ r).
    move: pos; rewrite {2}/clip /clip lt_maxr le_maxl ltNge oppr_le0 K0 /= lt_minr => /andP[_ /ltW r0].
    by apply/andP; split; [rewrite (le_trans _ r0) // oppr_le0|rewrite le_minl lexx orbT].
  by rewrite /r -mulrBr ler_pmul2l // addrC ler_add2r ler_oppl.
- rewrite pmulr_llt0 ?invr_gt0 // => neg; apply: (@le_trans _ _ (- r)).
    rewrite ler_opp2 le_maxr; move: neg; rewrite /clip lt_maxl => /andP[_].
    rewrite lt_minl ltNge K0 /= => r0; rewrite (min_idPr _) ?lexx ?orbT //.
    by rewrite (le_trans (ltW r0)).
  by rewrite /r opprB -mulrBr ler_pmul2l // ler_add2r.
Qed.

End residual.

(* The smooth hinge of half-width h at the label y, 1 or -1. *)
Definition smooth_hinge h y m : R := envelope 0 (2 * h) (1 + h - y * m) / (2 * h).
Definition smooth_hinge_slope h y m : R := - y * clip 0 (2 * h) (1 + h - y * m) / (2 * h).

Section smooth_hinge.
Variables (h y : R).
Hypotheses (h0 : 0 < h) (y1 : `|y| = 1).
Let hh : 0 < 2 * h. Proof. by rewrite mulr_gt0 ?ltr0n. Qed.

Lemma smooth_hinge_subslope m : subslope (smooth_hinge h y) m (smooth_hinge_slope h y m).
Proof.
have c0 : 0 <= (2 * h)^-1 by rewrite invr_ge0 ltW.
have base := @envelope_subslope 0 (2 * h) (1 + h - y * m) (ltW hh).
rewrite (_ : 1 + h - y * m = - y * m + (1 + h)) in base; last by real_ring R.
have := subslope_affine c0 base.
have -> : (2 * h)^-1 * (clip 0 (2 * h) (- y * m + (1 + h)) * - y) = smooth_hinge_slope h y m.
  rewrite /smooth_hinge_slope (_ : 1 + h - y * m = - y * m + (1 + h)); last by real_ring R.
  by rewrite mulrC [X in X / _]mulrC.
move=> below m'; have := below m'; rewrite /smooth_hinge !(mulrC _^-1).
by rewrite !(_ : forall x, - y * x + (1 + h) = 1 + h - y * x) // => x; real_ring R.
Qed.

Lemma smooth_hinge_lipschitz a b : `|smooth_hinge_slope h y a - smooth_hinge_slope h y b| <= (2 * h)^-1 * `|a - b|.
Proof.
rewrite -mulrBl -mulrBr !normrM normrN y1 mul1r (ger0_norm (_ : 0 <= (2 * h)^-1)) ?invr_ge0 ?(ltW hh) // mulrC.
rewrite ler_wpmul2l ?invr_ge0 ?(ltW hh) //; apply: le_trans (clip_lipschitz _ _ _ _) _.
rewrite (_ : 1 + h - y * a - (1 + h - y * b) = y * (b - a)); last by real_ring R.
by rewrite normrM y1 mul1r distrC.
Qed.

Lemma smooth_hinge_limited m : limited 1 (2 * h) (2 * h) (1 + h) (smooth_hinge_slope h y m) m.
Proof.
rewrite /limited /smooth_hinge_slope mulrC divfK ?gt_eqF //; set r := 1 + h - y * m.
have /andP[c0 c1] := clip_between r (ltW hh).
have pos : 0 < clip 0 (2 * h) r -> clip 0 (2 * h) r <= r.
  by rewrite /clip lt_maxr ltxx /= lt_minr => /andP[_ /ltW r0]; rewrite le_maxl r0 le_minl lexx orbT.
move: (clip _ _ _) c0 c1 pos => c c0 c1 pos; have two : 0 < (2 * h)^-1 by rewrite invr_gt0.
have [ypos|yneg] : y = 1 \/ y = -1.
  by move: y1; case: (lerP 0 y) => [/ger0_norm|/ltr0_norm] -> ?; [left|right; rewrite -[y]opprK; congr -%R].
  rewrite /r ypos !mul1r in pos *; rewrite !mulN1r opprK; split.
  - by rewrite normrN ger0_norm.
  - by rewrite pmulr_lgt0 // oppr_gt0 ltNge c0.
  - by rewrite pmulr_llt0 // oppr_lt0.
rewrite /r yneg !mulN1r !opprK in pos *; rewrite !mul1r; split.
- by rewrite ger0_norm.
- by rewrite pmulr_lgt0.
- by rewrite pmulr_llt0 // ltNge c0.
Qed.

End smooth_hinge.

(* The squared loss, on predictions that reach as far as b. *)
Lemma squared_subslope y m : subslope (fun m => (m - y) ^+ 2) m (2 * (m - y)).
Proof. by move=> m'; apply: (@le_by1 _ _ _ _ _ (sqr_ge0 (m' - m))); real_ring R. Qed.

Lemma squared_lipschitz y a b : `|2 * (a - y) - 2 * (b - y)| <= 2 * `|a - b|.
Proof. by rewrite -mulrBr opprB addrA subrK normrM ger0_norm ?ler0n. Qed.

Lemma squared_limited Y b y m : `|y| <= Y -> `|m| <= b -> limited 2 1 (2 * Y + 2 * b) Y (2 * (m - y)) m.
Proof.
rewrite !ler_norml => /andP[yl yh] /andP[ml mh]; rewrite /limited !mul1r.
have two : 0 < 2 :> R by rewrite ltr0n.
split=> [|_|_]; last 2 first.
- by rewrite ler_pmul2l // addrC ler_add2r ler_oppl.
- by rewrite -mulrN opprB ler_pmul2l // ler_add2r.
rewrite -mulrDr ler_norml -mulrN !ler_pmul2l //; apply/andP; split.
  by apply: (@le_by2 _ _ _ _ _ _ _ yh ml); real_ring R.
by apply: (@le_by2 _ _ _ _ _ _ _ yl mh); real_ring R.
Qed.

Definition squared_pull Y reach : R := 2 * Num.min reach (Y / 2) * (Y - Num.min reach (Y / 2)).

Lemma squared_pulls Y reach y m : `|y| <= Y -> `|m| <= reach -> - (m * (2 * (m - y))) <= squared_pull Y reach.
Proof.
move=> yY mr; have two : 0 <= 2 :> R by rewrite ler0n.
apply: (@le_trans _ _ (2 * (`|m| * (Y - `|m|)))).
  have my : m * y <= `|m| * Y by rewrite (le_trans (ler_norm _)) // normrM ler_wpmul2l.
  have e := ler_wpmul2l two my; apply: (@le_by1 _ _ _ _ _ e).
  have -> : 2 * (`|m| * (Y - `|m|)) = 2 * (`|m| * Y) - 2 * `|m| ^+ 2 by real_ring R.
  by rewrite real_normK ?num_real //; real_ring R.
rewrite /squared_pull -mulrA ler_pmul2l ?ltr0n //; have [near|_] := leP reach (Y / 2).
  have e1 : 0 <= reach - `|m| by rewrite subr_ge0.
  have e2 : 0 <= Y - reach - `|m|.
    by apply: (@le_by1 _ _ _ _ _ (ler_add (ler_add near near) e1)); real_fields R.
  by apply: (@le_by1 _ _ _ _ _ (mulr_ge0 e1 e2)); real_ring R.
by apply: (@le_by1 _ _ _ _ _ (sqr_ge0 (`|m| - Y / 2))); real_fields R.
Qed.

(* A cap out of reach does not matter. *)
Lemma widest_uncapped Y k : 0 <= Y -> 0 <= k -> widest (Y + k) Y k = uncapped Y k.
Proof.
move=> Y0 k0; have [/andP[c0 c1] _] := peakP Y0 k0; rewrite /widest.
have [small|_] := lerP (Y + k) Y.
  have -> : k = 0 by apply/eqP; rewrite eq_le k0 andbT -(ler_add2l Y) addr0.
  by rewrite /uncapped /peak mulr0 mul0r mul0r addr0 expr0n /= subr0 sqrtr1 mulr1.
by rewrite addrAC subrr add0r ler_pimulr.
Qed.

(* Page A2's form of the squared loss: 4 B (Y + R B c) sqrt(1 - c^2). *)
Lemma uncapped_scaled Y k : uncapped (2 * Y) (2 * k) = 2 * uncapped Y k.
Proof.
have same : peak (2 * Y) (2 * k) = peak Y k.
  rewrite /peak (_ : (2 * Y) ^+ 2 + 8%:R * (2 * k) ^+ 2 = 2 ^+ 2 * (Y ^+ 2 + 8%:R * k ^+ 2)); last by real_ring R.
  by rewrite sqrtrM ?sqr_ge0 // sqrtr_sqr ger0_norm ?ler0n // -mulrDr invfM mulrACA divff ?mul1r ?pnatr_eq0.
by rewrite /uncapped same; set s := Num.sqrt _; real_ring R.
Qed.

(* Hinge and absolute loss: -m s is at most what the loss falls from 0 to m, at any subgradient. *)
Lemma subslope_pull (phi : R -> R) m s : subslope phi m s -> - (m * s) <= phi 0 - phi m.
Proof. by move=> /(_ 0) h; apply: (@le_by1 _ _ _ _ _ h); real_ring R. Qed.

Lemma lipschitz_pull (s m l reach : R) : 0 <= l -> `|s| <= l -> `|m| <= reach -> - (m * s) <= reach * l.
Proof. by move=> l0 sl mr; rewrite (le_trans (ler_norm _)) // normrN normrM ler_pmul. Qed.

Lemma hinge_pull y m s reach : `|y| <= 1 -> `|m| <= reach -> subslope (hinge y) m s -> - (m * s) <= Num.min reach 1.
Proof.
move=> y1 mr sub; rewrite le_minr; apply/andP; split.
  by rewrite -[reach]mulr1; apply: lipschitz_pull; rewrite ?ler01 //; apply: (lipschitz_slope _ sub) => a b; exact: hinge_lipschitz.
apply: le_trans (subslope_pull sub) _; rewrite {1}/hinge mulr0 subr0 (max_idPr ler01) ler_subl_addr ler_addl.
by rewrite le_maxr lexx.
Qed.

Lemma absolute_convex y : convex_line (fun m => `|m - y|).
Proof.
move=> a b t /andP[t0 t1]; have s0 : 0 <= 1 - t by rewrite subr_ge0.
have -> : a + t * (b - a) - y = (1 - t) * (a - y) + t * (b - y) by real_ring R.
by rewrite (le_trans (ler_norm_add _ _)) // !normrM (ger0_norm s0) (ger0_norm t0).
Qed.

Lemma absolute_lipschitz y a b : `| `|a - y| - `|b - y| | <= 1 * `|a - b|.
Proof. by rewrite mul1r (le_trans (ler_dist_dist _ _)) // opprB addrA subrK. Qed.

Lemma absolute_pull Y y m s reach : `|y| <= Y -> `|m| <= reach -> subslope (fun m => `|m - y|) m s ->
  - (m * s) <= Num.min reach Y.
Proof.
move=> yY mr sub; rewrite le_minr; apply/andP; split.
  by rewrite -[reach]mulr1; apply: lipschitz_pull; rewrite ?ler01 //; apply: (lipschitz_slope _ sub) => a b; exact: absolute_lipschitz.
by apply: le_trans (subslope_pull sub) _; rewrite sub0r normrN ler_subl_addr ler_paddr.
Qed.

End clipped.

(* The theorems: rows of norm at most B, targets of size at most Y, weights of norm at most r. *)
Section instances.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Variables (Z : Type) (feature : Z -> V) (target : Z -> R) (B Y mu : R) (penalty : V -> R) (C : V -> Prop).
Hypotheses (B0 : 0 <= B) (Y0 : 0 <= Y) (featureB : forall z, norm ip (feature z) <= B).
Hypotheses (convexC : convex_set C) (convexr : strongly_convex ip mu C penalty).
Local Notation norm := (norm ip).
Local Notation loss phi := (row_loss ip (fun z => phi (target z)) feature).
Local Notation gradient slope := (is_gradient ip (fun z => slope (target z)) feature).
Local Notation within r := (fun w : V => norm w <= r).

(* Huber, clipped squared and smooth absolute loss. *)
Section residual.
Variables (t q K : R).
Hypotheses (t0 : 0 < t) (q0 : 0 < q) (K0 : 0 <= K) (targetY : forall z, `|target z| <= Y).

Theorem A2_residual r : rows_as_in_A2 ip (loss (residual_loss t q K)) (gradient (residual_slope t q K)) penalty C
  (within r) (B * widest K (t * Y) (t * r * B) / q) mu.
Proof.
have curvature0 : 0 <= t / q by rewrite divr_ge0 // ltW.
apply: (smooth_rows curvature0 featureB (fun z => residual_subslope t0 q0 K0 (target z))
  (fun z => residual_lipschitz K t0 q0 (target z)) convexC convexr) => z z' w wr.
by apply: (limited_diameter t0 q0 Y0 B0 (featureB z) (featureB z') wr); exact: residual_limited.
Qed.

Theorem A2_residual_radius n (S : 'I_n -> Z) r w : (0 < n)%N -> 0 < mu -> minimiser C penalty 0 ->
  minimiser C (objective (loss (residual_loss t q K)) penalty S) w -> norm w <= r ->
  norm w <= Num.sqrt (limited_pull t q K Y (B * r) / mu).
Proof.
move=> n0 mu0 min0; have curvature0 : 0 <= t / q by rewrite divr_ge0 // ltW.
apply: (smooth_radius B0 curvature0 featureB (fun z => residual_subslope t0 q0 K0 (target z))
  (fun z => residual_lipschitz K t0 q0 (target z)) n0 mu0 convexC convexr min0) => z m mr.
by apply: limited_pulls => //; exact: residual_limited.
Qed.

End residual.

Section smooth_hinge.
Variable h : R.
Hypotheses (h0 : 0 < h) (labels : forall z, `|target z| = 1).

Theorem A2_smooth_hinge r : rows_as_in_A2 ip (loss (smooth_hinge h)) (gradient (smooth_hinge_slope h)) penalty C
  (within r) (B * widest (2 * h) (1 + h) (r * B) / (2 * h)) mu.
Proof.
have hh : 0 < 2 * h by rewrite mulr_gt0 ?ltr0n.
have curvature0 : 0 <= (2 * h)^-1 by rewrite invr_ge0 ltW.
have far : 0 <= 1 + h by rewrite addr_ge0 ?ler01 // ltW.
apply: (smooth_rows curvature0 featureB (fun z => smooth_hinge_subslope (target z) h0)
  (fun z => smooth_hinge_lipschitz h0 (labels z)) convexC convexr) => z z' w wr.
have := limited_diameter ltr01 hh far B0 (featureB z) (featureB z') wr
  (smooth_hinge_limited h0 (labels z) _) (smooth_hinge_limited h0 (labels z') _).
by rewrite !mul1r.
Qed.

Theorem A2_smooth_hinge_radius n (S : 'I_n -> Z) r w : (0 < n)%N -> 0 < mu -> minimiser C penalty 0 ->
  minimiser C (objective (loss (smooth_hinge h)) penalty S) w -> norm w <= r ->
  norm w <= Num.sqrt (limited_pull 1 (2 * h) (2 * h) (1 + h) (B * r) / mu).
Proof.
move=> n0 mu0 min0; have hh : 0 < 2 * h by rewrite mulr_gt0 ?ltr0n.
have curvature0 : 0 <= (2 * h)^-1 by rewrite invr_ge0 ltW.
have far : 0 <= 1 + h by rewrite addr_ge0 ?ler01 // ltW.
apply: (smooth_radius B0 curvature0 featureB (fun z => smooth_hinge_subslope (target z) h0)
  (fun z => smooth_hinge_lipschitz h0 (labels z)) n0 mu0 convexC convexr min0) => z m mr.
by apply: (limited_pulls ltr01 hh far mr); exact: smooth_hinge_limited.
Qed.

End smooth_hinge.

Local Notation square := (fun y m : R => (m - y) ^+ 2).
Local Notation square_slope := (fun y m : R => 2 * (m - y)).

Theorem A2_squared r : 0 <= r -> (forall z, `|target z| <= Y) -> rows_as_in_A2 ip (loss square) (gradient square_slope)
  penalty C (within r) (2 * B * uncapped Y (r * B)) mu.
Proof.
move=> r0 targetY; have two : 0 < 2 :> R by rewrite ltr0n.
apply: (smooth_rows (ltW two) featureB (fun z => squared_subslope (target z))
  (fun z => squared_lipschitz (target z)) convexC convexr) => z z' w wr.
have limits z'' := squared_limited (targetY z'')
  (le_trans (prediction_size featureB z'' w) (ler_wpmul2l B0 wr)).
have := limited_diameter two ltr01 Y0 B0 (featureB z) (featureB z') wr (limits z) (limits z').
rewrite divr1 (mulrC B r) -mulrA widest_uncapped ?mulr_ge0 ?ler0n //.
by rewrite uncapped_scaled mulrCA mulrA.
Qed.

Theorem A2_squared_radius n (S : 'I_n -> Z) r w : (forall z, `|target z| <= Y) -> (0 < n)%N -> 0 < mu ->
  minimiser C penalty 0 -> minimiser C (objective (loss square) penalty S) w -> norm w <= r ->
  norm w <= Num.sqrt (squared_pull Y (B * r) / mu).
Proof.
move=> targetY n0 mu0 min0; have two : 0 < 2 :> R by rewrite ltr0n.
apply: (smooth_radius B0 (ltW two) featureB (fun z => squared_subslope (target z))
  (fun z => squared_lipschitz (target z)) n0 mu0 convexC convexr min0) => z m mr.
by apply: squared_pulls.
Qed.

(* Losses with corners: all subgradients count. *)
Lemma lipschitz_rows (phi : R -> R -> R) (D : V -> Prop) : (forall z, convex_line (phi (target z))) ->
  (forall z a b, `|phi (target z) a - phi (target z) b| <= 1 * `|a - b|) ->
  rows_as_in_A2 ip (loss phi) (fun z => prediction_slopes ip (phi (target z)) (feature z)) penalty C D (2 * B) mu.
Proof.
move=> convexphi lipschitz; split=> //.
- by move=> z; exact: prediction_convex.
- by move=> z; exact: prediction_has_slopes.
- move=> w z z' s s' _; rewrite -[B in 2 * B]mul1r.
  by apply: slope_diameter => //; move=> m a; exact: lipschitz_slope.
Qed.

Theorem A2_hinge D : (forall z, `|target z| <= 1) -> rows_as_in_A2 ip (loss (@hinge R))
  (fun z => prediction_slopes ip (hinge (target z)) (feature z)) penalty C D (2 * B) mu.
Proof.
move=> labels; apply: lipschitz_rows => z; first exact: hinge_convex.
by move=> a b; exact: hinge_lipschitz.
Qed.

Theorem A2_absolute D : rows_as_in_A2 ip (loss (fun y m => `|m - y|))
  (fun z => prediction_slopes ip (fun m => `|m - target z|) (feature z)) penalty C D (2 * B) mu.
Proof.
apply: (@lipschitz_rows (fun y m => `|m - y|)) => z; first exact: absolute_convex.
by move=> a b; exact: absolute_lipschitz.
Qed.

Lemma corner_radius (phi : R -> R -> R) n (S : 'I_n -> Z) r p w : (0 < n)%N -> 0 < mu -> minimiser C penalty 0 ->
  (forall z, convex_line (phi (target z))) ->
  (forall z m s, `|m| <= B * r -> subslope (phi (target z)) m s -> - (m * s) <= p) ->
  minimiser C (objective (loss phi) penalty S) w -> norm w <= r -> norm w <= Num.sqrt (p / mu).
Proof.
move=> n0 mu0 min0 convexphi pull min wr.
have square : mu * norm w ^+ 2 <= p.
  apply: (lemma_R n0 convexC convexr min0 (fun z => prediction_has_slopes ip (feature z) (convexphi z)) _ min).
  move=> z _ [s sub ->]; rewrite dotZl (dotC ip (feature z)) mulrC; apply: pull sub.
  by apply: le_trans (prediction_size featureB z w) _; rewrite ler_wpmul2l.
rewrite -[norm w]ger0_norm ?norm_ge0 // -sqrtr_sqr; apply: ler_wsqrtr.
by rewrite ler_pdivl_mulr // mulrC.
Qed.

Theorem A2_hinge_radius n (S : 'I_n -> Z) r w : (forall z, `|target z| <= 1) -> (0 < n)%N -> 0 < mu ->
  minimiser C penalty 0 -> minimiser C (objective (loss (@hinge R)) penalty S) w -> norm w <= r ->
  norm w <= Num.sqrt (Num.min (B * r) 1 / mu).
Proof.
move=> labels n0 mu0 min0; apply: corner_radius => // z; first exact: hinge_convex.
by move=> m s; exact: hinge_pull.
Qed.

Theorem A2_absolute_radius n (S : 'I_n -> Z) r w : (forall z, `|target z| <= Y) -> (0 < n)%N -> 0 < mu ->
  minimiser C penalty 0 -> minimiser C (objective (loss (fun y m => `|m - y|)) penalty S) w -> norm w <= r ->
  norm w <= Num.sqrt (Num.min (B * r) Y / mu).
Proof.
move=> targetY n0 mu0 min0; apply: (@corner_radius (fun y m => `|m - y|)) => // z; first exact: absolute_convex.
by move=> m s; exact: absolute_pull.
Qed.

End instances.
