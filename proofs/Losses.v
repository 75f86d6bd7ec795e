(* Page A2: losses of one prediction, phi(<w, x>) with a convex phi, leave every point along a subgradient, with corners
   or without; so do losses with a gradient. This is what `slopes` asks for in Minimisers.v. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct Minimisers.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Local Open Scope classical_set_scope.

Section line.
Variable R : realType.
Implicit Types (phi : R -> R) (m s t u e : R).
Add Field reals : (real_field R).

Definition convex_line phi :=
  forall a b t, 0 <= t <= 1 -> phi (a + t * (b - a)) <= (1 - t) * phi a + t * phi b.

(* s is a subgradient of phi at m. *)
Definition subslope phi m s := forall t, phi m + s * (t - m) <= phi t.

Lemma convex_chord phi m u t : convex_line phi -> 0 < u -> 0 < t ->
  (u + t) * phi m <= t * phi (m - u) + u * phi (m + t).
Proof.
move=> convexphi u0 t0; have ut0 : 0 < u + t by rewrite addr_gt0.
have nz : u + t != 0 by rewrite lt0r_neq0.
have part : 0 <= u / (u + t) <= 1 by apply: share => //; rewrite ?ler_addl ltW.
have := convexphi (m - u) (m + t) _ part.
have -> : m - u + u / (u + t) * (m + t - (m - u)) = m by real_fields R; exact/eqP.
move=> h; have {}h := ler_wpmul2l (ltW ut0) h.
by apply: (@le_by1 _ _ _ _ _ h); real_fields R; exact/eqP.
Qed.

Lemma right_slope phi m : convex_line phi -> exists2 s, subslope phi m s &
  forall e, 0 < e -> exists2 t0, 0 < t0 & forall t, 0 < t <= t0 -> phi (m + t) <= phi m + t * (s + e).
Proof.
move=> convexphi; pose quotient t := (phi (m + t) - phi m) / t.
pose Q := [set quotient t | t in [set t | 0 < t]].
have Q0 : Q !=set0 by exists (quotient 1), 1 => //=; exact: ltr01.
have below u : 0 < u -> lbound Q ((phi m - phi (m - u)) / u).
  move=> u0 _ [t /= t0 <-]; rewrite /quotient ler_pdivr_mulr // mulrAC ler_pdivl_mulr //.
  by apply: (@le_by1 _ _ _ _ _ (convex_chord m convexphi u0 t0)); real_ring R.
have infQ : has_inf Q by split => //; exists ((phi m - phi (m - 1)) / 1); exact/below/ltr01.
exists (inf Q) => [t|e e0].
  have [tm|mt|->] := ltrgtP t m; last by rewrite subrr mulr0 addr0.
  - have u0 : 0 < m - t by rewrite subr_gt0.
    have := lb_le_inf Q0 (below _ u0); rewrite ler_pdivr_mulr // subKr => h.
    by apply: (@le_by1 _ _ _ _ _ h); real_ring R.
  - have u0 : 0 < t - m by rewrite subr_gt0.
    have : inf Q <= quotient (t - m) by apply: inf_lower_bound => //; exists (t - m).
    rewrite /quotient ler_pdivl_mulr // addrCA subrr addr0 => h.
    by apply: (@le_by1 _ _ _ _ _ h); real_ring R.
have [_ [t0 /= t00 <-] lt] := inf_adherent e0 infQ.
exists t0 => // t /andP[tpos tt0].
have : quotient t0 <= inf Q + e by exact: ltW.
rewrite /quotient ler_pdivr_mulr // => h0.
(* the chord from m to m + t0, at m + t *)
have part : 0 <= t / t0 <= 1 by apply: share => //; exact: ltW.
have := convexphi m (m + t0) _ part.
have -> : m + t / t0 * (m + t0 - m) = m + t by real_fields R; apply/eqP; rewrite lt0r_neq0.
move=> h1; have h2 := ler_wpmul2l (andP part).1 h0.
apply: (@le_by2 _ _ _ _ _ _ _ h1 h2); real_fields R; apply/eqP; by rewrite lt0r_neq0.
Qed.

Lemma left_slope phi m : convex_line phi -> exists2 s, subslope phi m s &
  forall e, 0 < e -> exists2 t0, 0 < t0 & forall t, 0 < t <= t0 -> phi (m - t) <= phi m + t * (- s + e).
Proof.
move=> convexphi; have mirrored : convex_line (fun t => phi (- t)).
  move=> a b t t01; apply: le_trans (convexphi (- a) (- b) t t01).
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; congr phi; real_ring R.
have [s sub near] := right_slope (- m) mirrored; rewrite opprK in near.
exists (- s) => [t|e e0].
  by have := sub (- t); rewrite !opprK => h; apply: (@le_by1 _ _ _ _ _ h); real_ring R.
have [t0 t00 h] := near e e0; exists t0 => // t tt0.
by have := h t tt0; rewrite opprD !opprK.
Qed.

(* Slopes of a function that changes by at most l a unit are at most l in size. *)
Lemma lipschitz_slope phi (l m s : R) : (forall a b, `|phi a - phi b| <= l * `|a - b|) ->
  subslope phi m s -> `|s| <= l.
Proof.
move=> lipschitz sub; rewrite ler_norml; apply/andP; split.
  have h := sub (m - 1); have h' := le_trans (ler_norm _) (lipschitz (m - 1) m).
  rewrite (_ : m - 1 - m = -1) ?normrN1 in h h'; last by real_ring R.
  by apply: (@le_by2 _ _ _ _ _ _ _ h h'); real_ring R.
have h := sub (m + 1); have h' := le_trans (ler_norm _) (lipschitz (m + 1) m).
rewrite (_ : m + 1 - m = 1) ?normr1 in h h'; last by real_ring R.
by apply: (@le_by2 _ _ _ _ _ _ _ h h'); real_ring R.
Qed.

(* The hinge, which has a corner, is such a loss. *)
Definition hinge (y m : R) : R := Num.max 0 (1 - y * m).

Lemma hinge_convex y : convex_line (hinge y).
Proof.
move=> a b t /andP[t0 t1]; have s0 : 0 <= 1 - t by rewrite subr_ge0.
have above m : 0 <= hinge y m /\ 1 - y * m <= hinge y m by rewrite /hinge !le_maxr !lexx orbT.
rewrite {1}/hinge le_maxl; apply/andP; split.
  by rewrite addr_ge0 // mulr_ge0 //; case: (above a) (above b) => ? _ [].
have ha := ler_wpmul2l s0 (above a).2; have hb := ler_wpmul2l t0 (above b).2.
by apply: (@le_by2 _ _ _ _ _ _ _ ha hb); real_ring R.
Qed.

Lemma hinge_lipschitz y a b : `|y| <= 1 -> `|hinge y a - hinge y b| <= 1 * `|a - b|.
Proof.
move=> y1; have step u v : hinge y u - hinge y v <= `|u - v|.
  rewrite ler_subl_addr {1}/hinge le_maxl addr_ge0 ?le_maxr ?lexx //=.
  have h : y * (v - u) <= `|u - v|.
    by rewrite (le_trans (ler_norm _)) // normrM distrC ler_pimull.
  have h' : 1 - y * v <= hinge y v by rewrite le_maxr lexx orbT.
  by apply: (@le_by2 _ _ _ _ _ _ _ h h'); real_ring R.
by rewrite mul1r ler_norml step ler_oppl opprB distrC step.
Qed.

End line.

Section losses.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Implicit Types (phi : R -> R) (x w h s : V).
Add Field reals : (real_field R).
Local Notation "<< x , y >>" := (dot ip x y) (at level 0, x at level 99, y at level 99).

(* The subgradients of phi(<w, x>) at w. *)
Definition prediction_slopes phi x w g := exists2 s, subslope phi << w, x >> s & g = s *: x.

Lemma prediction_convex phi x (C : V -> Prop) : convex_line phi -> convex ip C (fun w => phi << w, x >>).
Proof.
move=> convexphi v w t _ _ t01; rewrite /between dotDl dotZl dotBl.
by rewrite !mul0r subr0; exact: convexphi.
Qed.

Theorem prediction_has_slopes phi x : convex_line phi ->
  slopes ip (prediction_slopes phi x) (fun w => phi << w, x >>).
Proof.
move=> convexphi w h; set m := << w, x >>; set c := << h, x >>.
suff [s sub near] : exists2 s, subslope phi m s & forall e, 0 < e -> exists2 t0, 0 < t0 &
    forall t, 0 < t <= t0 -> phi (m + t * c) <= phi m + t * (s * c + e).
  exists (s *: x) => [|e e0]; first by exists s.
  have [t0 t00 ht] := near e e0; exists t0 => // t tt0.
  rewrite dotDl !dotZl (dotC ip x h) -/m -/c ler_norml; apply/andP; split.
    have te : 0 <= t * e by rewrite mulr_ge0 ?(ltW e0) //; case/andP: tt0 => /ltW.
    by apply: (@le_by2 _ _ _ _ _ _ _ (sub (m + t * c)) te); real_ring R.
  by apply: (@le_by1 _ _ _ _ _ (ht t tt0)); real_ring R.
have [c0|c0|c0] := ltrgtP c 0.
- have [s sub near] := left_slope m convexphi; exists s => // e e0.
  have d0 : 0 < - c by rewrite oppr_gt0.
  have [t0 t00 ht] := near _ (divr_gt0 e0 d0); exists (t0 / - c) => [|t /andP[tpos tle]].
    exact: divr_gt0.
  have := ht (t * - c); rewrite mulr_gt0 //= -ler_pdivl_mulr // tle => /(_ isT).
  rewrite mulrN opprK => h1; apply: (@le_by1 _ _ _ _ _ h1).
  by real_fields R; apply/eqP; rewrite gt_eqF.
- have [s sub near] := right_slope m convexphi; exists s => // e e0.
  have [t0 t00 ht] := near _ (divr_gt0 e0 c0); exists (t0 / c) => [|t /andP[tpos tle]].
    exact: divr_gt0.
  have := ht (t * c); rewrite mulr_gt0 //= -ler_pdivl_mulr // tle => /(_ isT) h1.
  by apply: (@le_by1 _ _ _ _ _ h1); real_fields R; apply/eqP; rewrite gt_eqF.
- have [s sub _] := right_slope m convexphi; exists s => // e e0; exists 1 => [|t /andP[/ltW tpos _]].
    exact: ltr01.
  by rewrite c0 !mulr0 addr0 add0r ler_addl mulr_ge0 // ltW.
Qed.

(* A loss with a gradient, in the sense of derivatives along lines. *)
Lemma gradient_slopes (f : V -> R) (g : V -> V) :
  (forall w h, directional f w h << g w, h >>) -> slopes ip (fun w s => s = g w) f.
Proof. by move=> fg w h; exists (g w). Qed.

End losses.
