(* Page M4, "How the bounds depend on B": rows that are longer than declared by a factor l, as clipping in doubles may leave
   them, move minimisers by at most l^3 times what page A2 says of rows as declared; for the losses of Formulas.v. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Losses Radius Gradients Groups Diameters Formulas.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* What grows in proportion at most does so under a minimum, a root and a product. *)
Section growth.
Variable R : realType.
Implicit Types (l x y F K Y t q k : R).

Lemma min_grows l x y : 1 <= l -> 0 <= y -> Num.min (l * x) y <= l * Num.min x y.
Proof.
move=> l1 y0; have l0 : 0 <= l by exact: le_trans l1.
rewrite minr_pmulr // le_minr le_minl lexx /= le_minl; apply/orP; right.
by rewrite ler_pemull.
Qed.

(* The place x up to a half of F, times what is left of F and capped at K. *)
Lemma half_grows l x F K : 1 <= l -> 0 <= x -> 0 <= K -> 0 <= F ->
  Num.min (l * x) (F / 2) * Num.min K (F - Num.min (l * x) (F / 2)) <=
    l * (Num.min x (F / 2) * Num.min K (F - Num.min x (F / 2))).
Proof.
move=> l1 x0 K0 F0; have h0 : 0 <= F / 2 by rewrite divr_ge0 ?ler0n.
have l0 : 0 <= l by exact: le_trans l1.
set p := Num.min (l * x) _; set p0 := Num.min x _.
have up : p0 <= p by rewrite le_minr !le_minl lexx orbT andbT ler_pemull.
have half y : Num.min y (F / 2) <= F / 2 by rewrite le_minl lexx orbT.
have left y : 0 <= F - Num.min y (F / 2).
  by rewrite subr_ge0 (le_trans (half y)) // ler_pdivr_mulr ?ltr0n // ler_pemulr // ler1n.
have p00 : 0 <= p0 by rewrite le_minr x0.
rewrite mulrA; apply: ler_pmul.
- by rewrite le_minr mulr_ge0.
- by rewrite le_minr K0 left.
- exact: min_grows.
- by rewrite le_minr !le_minl lexx /= ler_sub // orbT.
Qed.

Lemma limited_pull_grows l t q K Y x : 1 <= l -> 0 < t -> 0 < q -> 0 <= K -> 0 <= Y -> 0 <= x ->
  limited_pull t q K Y (l * x) <= l * limited_pull t q K Y x.
Proof.
move=> l1 t0 q0 K0 Y0 x0; rewrite /limited_pull [t * (l * x)]mulrCA.
have tq : 0 <= (t * q)^-1 by rewrite invr_ge0 mulr_ge0 // ltW.
have tY : 0 <= t * Y by rewrite mulr_ge0 // ltW.
case: ifP => [low|_]; rewrite [leRHS]mulrA ler_wpmul2r //.
  rewrite [leRHS]mulrCA ler_wpmul2l // min_grows // subr_ge0 ltW // (lt_le_trans low) //.
  by rewrite ler_pdivr_mulr ?ltr0n // ler_pemulr // ler1n.
by apply: half_grows => //; rewrite mulr_ge0 // ltW.
Qed.

Lemma squared_pull_grows l Y x : 1 <= l -> 0 <= Y -> 0 <= x -> squared_pull Y (l * x) <= l * squared_pull Y x.
Proof.
move=> l1 Y0 x0; have := half_grows l1 x0 Y0 Y0; rewrite /squared_pull.
have cap y : 0 <= y -> Num.min Y (Y - Num.min y (Y / 2)) = Y - Num.min y (Y / 2).
  by move=> y0; apply/min_idPr; rewrite ler_subl_addl ler_addr le_minr y0 divr_ge0 ?ler0n.
rewrite !cap ?mulr_ge0 // 1?(le_trans _ l1) // => half.
by rewrite -![2 * _ * _]mulrA [leRHS]mulrCA ler_pmul2l ?ltr0n.
Qed.

Lemma root_grows l x y mu : 0 <= l -> 0 < mu -> x <= l ^+ 2 * y -> Num.sqrt (x / mu) <= l * Num.sqrt (y / mu).
Proof.
move=> l0 mu0 xy; rewrite -{1}(ger0_norm l0) -sqrtr_sqr -sqrtrM ?sqr_ge0 //; apply: ler_wsqrtr.
by rewrite mulrA ler_wpmul2r // invr_ge0 ltW.
Qed.

(* The widest pair for a longer reach is a pair, not so far apart, for the reach as it was. *)
Lemma attained K Y k : 0 <= Y -> 0 <= k -> 0 <= K -> exists2 c, 0 <= c <= 1 &
  widest K Y k = 2 * Num.min K (Y + k * c) * Num.sqrt (1 - c ^+ 2).
Proof.
move=> Y0 k0 K0; have [/andP[p0 p1] _] := peakP Y0 k0; rewrite /widest; case: leP => [low|high].
  exists 0; first by rewrite lexx ler01.
  by rewrite mulr0 addr0 expr0n subr0 sqrtr1 mulr1 (min_idPl low).
have d0 : 0 <= K - Y by rewrite subr_ge0 ltW.
case: leP => [inside|beyond].
  exists (peak Y k); first by rewrite p0 p1.
  by rewrite /uncapped (min_idPr _) // -ler_subr_addl.
have kp : 0 < k by rewrite lt_neqAle k0 andbT eq_sym; apply/eqP => kz; move: beyond; rewrite kz mul0r ltNge d0.
exists ((K - Y) / k).
  by rewrite divr_ge0 // ler_pdivr_mulr // mul1r (le_trans (ltW beyond)) // ler_pimulr.
by have -> : Y + k * ((K - Y) / k) = K; [rewrite mulrCA divff ?mulr1 ?gt_eqF // addrC subrK|rewrite minxx].
Qed.

Lemma widest_grows l K Y k : 1 <= l -> 0 <= Y -> 0 <= k -> 0 <= K -> widest K Y (l * k) <= l * widest K Y k.
Proof.
move=> l1 Y0 k0 K0; have l0 : 0 <= l by exact: le_trans l1.
have [c c01 ->] := attained Y0 (mulr_ge0 l0 k0) K0; have /andP[c0 _] := c01.
apply: le_trans (ler_wpmul2l l0 (widest_bounds Y0 k0 K0 c01)).
rewrite [leRHS]mulrA ler_wpmul2r ?sqrtr_ge0 // mulrCA ler_pmul2l ?ltr0n // minr_pmulr //.
by rewrite le_minr !le_minl ler_pemull //= mulrDr -mulrA ler_add2r ler_pemull // orbT.
Qed.

Lemma uncapped_grows l Y k : 1 <= l -> 0 <= Y -> 0 <= k -> uncapped Y (l * k) <= l * uncapped Y k.
Proof.
move=> l1 Y0 k0; have l0 : 0 <= l by exact: le_trans l1.
have [c01 _] := peakP Y0 (mulr_ge0 l0 k0); have /andP[c0 _] := c01.
apply: le_trans (ler_wpmul2l l0 (uncapped_widest Y0 k0 c01)); rewrite {1}/uncapped.
rewrite [leRHS]mulrA ler_wpmul2r ?sqrtr_ge0 // [leRHS]mulrCA ler_pmul2l ?ltr0n //.
by rewrite mulrDr -mulrA ler_add2r ler_pemull.
Qed.

End growth.

(* Rows longer by l, for any loss whose Gam and radius grow so. gam b r is Gam for rows of norm b where minimisers have norm
   at most r, and step b one step of the iteration of lemma R. *)
Section longer_rows.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Variables (Z : Type) (loss : Z -> V -> R) (G : Z -> V -> V -> Prop) (penalty : V -> R) (C : V -> Prop) (n : nat).
Variables (gam step : R -> R -> R) (l B mu : R).
Local Notation norm := (norm ip).
Local Notation best S w := (minimiser C (objective loss penalty S) w).
Implicit Types (S : 'I_n -> Z) (w : V) (r : R).
Hypotheses (l1 : 1 <= l) (mu0 : 0 < mu).
Hypothesis step_ge0 : forall r, 0 <= r -> 0 <= step B r.
Hypothesis step_grows : forall r, 0 <= r -> step (l * B) (l * r) <= l * step B r.
Hypothesis gam_grows : forall r, 0 <= r -> gam (l * B) (l * r) <= l ^+ 3 * gam B r.
Hypothesis rows : forall r, 0 <= r -> rows_as_in_A2 ip loss G penalty C (fun w => norm w <= r) (gam (l * B) r) mu.
Hypothesis radius : forall S w r, best S w -> norm w <= r -> norm w <= step (l * B) r.

Lemma longer_rows (r0 : R) k S S' w w' : 0 <= r0 -> (forall S w, best S w -> norm w <= l * r0) -> neighbours S S' ->
  best S w -> best S' w' -> norm (w - w') <= l ^+ 3 * (gam B (iter k (step B) r0) / (n%:R * mu)).
Proof.
move=> r00 start adj bestS bestS'.
have l0 : 0 <= l by exact: le_trans l1.
have pos j : 0 <= iter j (step B) r0 by elim: j => //= j; exact: step_ge0.
have inside j (T : 'I_n -> Z) x : best T x -> norm x <= l * iter j (step B) r0.
  move=> bestT; elim: j => [|j IH]; first exact: start bestT.
  by rewrite iterS; apply: le_trans (step_grows (pos j)); exact: radius bestT IH.
have [convexC convexl penaltyC slopesl diameter] := rows (mulr_ge0 l0 (pos k)).
have := A2 adj mu0 convexC (objective_convex S convexl penaltyC) slopesl diameter (inside k) bestS bestS'.
move/le_trans; apply; rewrite mulrA ler_wpmul2r ?gam_grows //.
by rewrite invr_ge0 mulr_ge0 ?ler0n // ltW.
Qed.

End longer_rows.

(* The losses whose slope is a clipped residual, the squared loss, and those with corners, rows of norm at most l B. *)
Section instances.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Variables (Z : Type) (feature : Z -> V) (target : Z -> R) (l B Y mu r0 : R) (penalty : V -> R) (C : V -> Prop).
Variables (n k : nat) (S S' : 'I_n -> Z) (w w' : V).
Local Notation norm := (norm ip).
Local Notation loss phi := (row_loss ip (fun z => phi (target z)) feature).
Local Notation gradient slope := (is_gradient ip (fun z => slope (target z)) feature).
Local Notation best phi S w := (minimiser C (objective (loss phi) penalty S) w).
Hypotheses (l1 : 1 <= l) (B0 : 0 <= B) (Y0 : 0 <= Y) (mu0 : 0 < mu) (r00 : 0 <= r0).
Hypotheses (featureB : forall z, norm (feature z) <= l * B) (adj : neighbours S S').
Hypotheses (convexC : convex_set C) (convexr : strongly_convex ip mu C penalty) (smallest : minimiser C penalty 0).

Let l0 : 0 <= l. Proof. exact: le_trans l1. Qed.
Let lB0 : 0 <= l * B. Proof. exact: mulr_ge0. Qed.
Let n0 : (0 < n)%N. Proof. by have [i _] := adj; exact: leq_ltn_trans (ltn_ord i). Qed.

(* One step of the iteration of lemma R. *)
Definition pull_step (pull : R -> R) b r : R := Num.sqrt (pull (b * r) / mu).

Let pull_step_grows pull r : (forall c x, 1 <= c -> 0 <= x -> pull (c * x) <= c * pull x) -> 0 <= r ->
  pull_step pull (l * B) (l * r) <= l * pull_step pull B r.
Proof.
move=> grows r_ge0; apply: root_grows => //; rewrite mulrACA -expr2.
by apply: grows; [rewrite expr_ge1|rewrite mulr_ge0].
Qed.

Let cube (x y : R) : x <= l ^+ 2 * y -> l * B * x <= l ^+ 3 * (B * y).
Proof. by move=> xy; rewrite exprS -mulrA -[leRHS]mulrA ler_wpmul2l // mulrCA ler_wpmul2l. Qed.

Let squares (r : R) : l * r * (l * B) = l ^+ 2 * (r * B).
Proof. by rewrite mulrACA -expr2. Qed.

Let power1 : 1 <= l ^+ 2. Proof. by rewrite expr_ge1. Qed.

(* How far minimisers lie, after k steps from r0. *)
Definition reached_radius pull : R := iter k (pull_step pull B) r0.

(* Huber, clipped squared and smooth absolute loss. *)
Theorem M4_residual (t q K : R) : 0 < t -> 0 < q -> 0 <= K -> (forall z, `|target z| <= Y) ->
  (forall (T : 'I_n -> Z) x, best (residual_loss t q K) T x -> norm x <= l * r0) ->
  best (residual_loss t q K) S w -> best (residual_loss t q K) S' w' ->
  norm (w - w') <= l ^+ 3 * (B * widest K (t * Y) (t * reached_radius (limited_pull t q K Y) * B) / q / (n%:R * mu)).
Proof.
move=> t0 q0 K0 targetY start bestS bestS'.
pose gam b r := b * widest K (t * Y) (t * r * b) / q; pose step := pull_step (limited_pull t q K Y).
rewrite -[_ / q]/(gam B (reached_radius (limited_pull t q K Y))).
apply: (longer_rows (gam := gam) (step := step) (G := gradient (residual_slope t q K)) l1 mu0 _ _ _ _ _ k r00 start adj bestS bestS')
  => [r1 _|r1 r_ge0|r1 r_ge0|r1 _|T x r1].
- exact: sqrtr_ge0.
- by apply: pull_step_grows => // c x c1 x0; exact: limited_pull_grows.
- have q1 : 0 <= q^-1 by rewrite invr_ge0 ltW.
  rewrite /gam [leRHS]mulrA ler_wpmul2r //; apply: cube.
  have -> : t * (l * r1) * (l * B) = l ^+ 2 * (t * r1 * B) by rewrite -mulrA squares mulrCA !mulrA.
  by apply: widest_grows; rewrite ?mulr_ge0 ?(ltW t0).
- exact: (A2_residual (t := t) (q := q) (K := K) lB0 Y0 featureB convexC convexr t0 q0 K0 targetY).
- by move=> bestT; exact: (A2_residual_radius lB0 Y0 featureB convexC convexr t0 q0 K0 targetY n0 mu0 smallest bestT).
Qed.

Theorem M4_smooth_hinge (h : R) : 0 < h -> (forall z, `|target z| = 1) ->
  (forall (T : 'I_n -> Z) x, best (smooth_hinge h) T x -> norm x <= l * r0) ->
  best (smooth_hinge h) S w -> best (smooth_hinge h) S' w' ->
  norm (w - w') <= l ^+ 3 * (B * widest (2 * h) (1 + h)
    (reached_radius (limited_pull 1 (2 * h) (2 * h) (1 + h)) * B) / (2 * h) / (n%:R * mu)).
Proof.
move=> h0 labels start bestS bestS'.
have hh : 0 < 2 * h by rewrite mulr_gt0 ?ltr0n.
have h1 : 0 <= 1 + h by rewrite addr_ge0 ?ler01 // ltW.
pose gam b r := b * widest (2 * h) (1 + h) (r * b) / (2 * h); pose step := pull_step (limited_pull 1 (2 * h) (2 * h) (1 + h)).
rewrite -[_ / (2 * h)]/(gam B (reached_radius (limited_pull 1 (2 * h) (2 * h) (1 + h)))).
apply: (longer_rows (gam := gam) (step := step) (G := gradient (smooth_hinge_slope h)) l1 mu0 _ _ _ _ _ k r00 start adj bestS bestS')
  => [r1 _|r1 r_ge0|r1 r_ge0|r1 _|T x r1].
- exact: sqrtr_ge0.
- by apply: pull_step_grows => // c x c1 x0; apply: limited_pull_grows; rewrite ?ltr01 // ltW.
- have q1 : 0 <= (2 * h)^-1 by rewrite invr_ge0 ltW.
  rewrite /gam [leRHS]mulrA ler_wpmul2r //; apply: cube; rewrite squares.
  by apply: widest_grows; rewrite ?mulr_ge0 ?(ltW hh) ?(ltW h0) ?ler0n.
- exact: (A2_smooth_hinge lB0 featureB convexC convexr h0 labels).
- by move=> bestT; exact: (A2_smooth_hinge_radius lB0 featureB convexC convexr h0 labels n0 mu0 smallest bestT).
Qed.

Theorem M4_squared : let square := fun y m : R => (m - y) ^+ 2 in (forall z, `|target z| <= Y) ->
  (forall (T : 'I_n -> Z) x, best square T x -> norm x <= l * r0) -> best square S w -> best square S' w' ->
  norm (w - w') <= l ^+ 3 * (2 * B * uncapped Y (reached_radius (squared_pull Y) * B) / (n%:R * mu)).
Proof.
move=> square targetY start bestS bestS'.
pose gam b r := 2 * b * uncapped Y (r * b); pose step := pull_step (squared_pull Y).
rewrite -[2 * B * _]/(gam B (reached_radius (squared_pull Y))).
apply: (longer_rows (gam := gam) (step := step) (G := gradient (fun y m : R => 2 * (m - y))) l1 mu0 _ _ _ _ _ k r00 start adj bestS bestS')
  => [r1 _|r1 r_ge0|r1 r_ge0|r1 r_ge0|T x r1].
- exact: sqrtr_ge0.
- by apply: pull_step_grows => // c x c1 x0; exact: squared_pull_grows.
- have wider : uncapped Y (l * r1 * (l * B)) <= l ^+ 2 * uncapped Y (r1 * B).
    by rewrite squares uncapped_grows ?mulr_ge0.
  have := ler_wpmul2l (ler0n R 2) (cube wider).
  by rewrite /gam [leRHS]mulrCA !mulrA.
- exact: (A2_squared lB0 Y0 featureB convexC convexr r_ge0 targetY).
- by move=> bestT; exact: (A2_squared_radius lB0 featureB convexC convexr targetY n0 mu0 smallest bestT).
Qed.

End instances.
