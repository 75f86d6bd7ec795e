(* Pages A1, A2 and ball, and "with the curvature of one dataset" of page A4: how far one row moves a minimiser. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Datasets of n rows, and replacing one of them. *)
Definition neighbours (Z : Type) (n : nat) (S S' : 'I_n -> Z) :=
  exists i, forall j, j != i -> S j = S' j.

Section minimisers.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Implicit Types (f g : V -> R) (C : V -> Prop) (u v w h s : V) (e t mu : R).
Add Field reals : (real_field R).

Local Notation "<< x , y >>" := (dot ip x y) (at level 0, x at level 99, y at level 99).
Local Notation norm := (norm ip).
Local Notation strongly_convex := (strongly_convex ip).
Local Notation convex := (convex ip).
Local Notation subgradient := (subgradient ip).

(* The derivative of f at w in the direction h, from one side, is a. *)
Definition directional f w h (a : R) :=
  forall e, 0 < e -> exists2 t0, 0 < t0 &
    forall t, 0 < t <= t0 -> `|f (w + t *: h) - f w - t * a| <= t * e.

(* At every w and in every direction, f leaves w along a vector of G w: the gradient where there is one, else a
   subgradient that may depend on the direction. *)
Definition slopes (G : V -> V -> Prop) f :=
  forall w h, exists2 s, G w s & directional f w h << s, h >>.

Lemma directionalD f g w h a b : directional f w h a -> directional g w h b ->
  directional (fun x => f x + g x) w h (a + b).
Proof.
move=> fa gb e e0; have e20 : 0 < e / 2 by rewrite divr_gt0 // ltr0n.
have [t t0 ft] := fa _ e20; have [t' t0' gt] := gb _ e20.
exists (Num.min t t') => [|x /andP[x0]]; first by rewrite lt_minr t0.
rewrite le_minr => /andP[xt xt'].
have -> : f (w + x *: h) + g (w + x *: h) - (f w + g w) - x * (a + b) =
  (f (w + x *: h) - f w - x * a) + (g (w + x *: h) - g w - x * b) by real_ring R.
apply: (le_trans (ler_norm_add _ _)).
have h1 : `|f (w + x *: h) - f w - x * a| <= x * (e / 2) by apply: ft; rewrite x0.
have h2 : `|g (w + x *: h) - g w - x * b| <= x * (e / 2) by apply: gt; rewrite x0.
by apply: (@le_by2 _ _ _ _ _ _ _ h1 h2); real_fields R.
Qed.

Lemma directional0 w h : directional (fun=> 0) w h 0.
Proof.
move=> e e0; exists 1 => // t /andP[t0 _].
by rewrite mulr0 !subr0 normr0 mulr_ge0 // ltW.
Qed.

Lemma directionalM f w h a c : 0 <= c -> directional f w h a ->
  directional (fun x => c * f x) w h (c * a).
Proof.
move=> c0 fa e e0; have c1 : 0 < c + 1 by rewrite ltr_spaddr.
have [t t0 ft] := fa _ (divr_gt0 e0 c1); exists t => // x xt.
have -> : c * f (w + x *: h) - c * f w - x * (c * a) = c * (f (w + x *: h) - f w - x * a) by real_ring R.
rewrite normrM (ger0_norm c0) (le_trans (ler_wpmul2l c0 (ft _ xt))) //.
rewrite mulrCA ler_wpmul2l //; first by case/andP: xt => /ltW.
by rewrite mulrCA ger_pmulr // ler_pdivr_mulr // mul1r ler_addl.
Qed.

(* A convex combination of functions on the rows, and the objective of page A1. *)
Variables (Z : Type) (loss : Z -> V -> R) (penalty : V -> R) (C : V -> Prop).

Definition objective n (S : 'I_n -> Z) w : R := n%:R^-1 * (\sum_i loss (S i) w) + penalty w.

Lemma objective_convex mu n (S : 'I_n -> Z) :
  (forall z, convex C (loss z)) -> strongly_convex mu C penalty -> strongly_convex mu C (objective S).
Proof.
move=> convexl convexr x y t Cx Cy t01.
have sum : \sum_i loss (S i) (between x y t) <=
    (1 - t) * (\sum_i loss (S i) x) + t * (\sum_i loss (S i) y).
  rewrite !mulr_sumr -big_split; apply: ler_sum => i _ /=.
  apply: (@le_by1 _ _ _ _ _ (convexl (S i) x y t Cx Cy t01)); real_fields R.
have n0 : 0 <= (n%:R^-1 : R) by rewrite invr_ge0 ler0n.
have h1 := ler_wpmul2l n0 sum.
have h2 := convexr x y t Cx Cy t01.
apply: (@le_by2 _ _ _ _ _ _ _ h1 h2); rewrite /objective.
set c := n%:R^-1; real_fields R.
Qed.

(* The two objectives differ in one loss. *)
Lemma objective_swap n (S S' : 'I_n -> Z) : neighbours S S' -> exists z z', forall w,
  objective S w - objective S' w = n%:R^-1 * (loss z w - loss z' w).
Proof.
move=> [i same]; exists (S i), (S' i) => w.
rewrite /objective (bigD1 i) //= [X in _ - (_ * X + _)](bigD1 i) //=.
rewrite [X in _ - (_ * (_ + X) + _)](eq_bigr (fun j => loss (S j) w)) => [|j /same -> //].
set rest := \sum_(j < n | _) _; real_ring R.
Qed.

(* Page A1: minimisers of neighbouring datasets, for losses that are rho-Lipschitz where minimisers lie. *)
Theorem A1 n (S S' : 'I_n -> Z) (rho mu : R) (D : V -> Prop) w w' :
  neighbours S S' -> 0 < mu -> 0 <= rho -> convex_set C ->
  (forall S : 'I_n -> Z, strongly_convex mu C (objective S)) ->
  (forall z x y, D x -> D y -> `|loss z x - loss z y| <= rho * norm (x - y)) ->
  D w -> D w' ->
  minimiser C (objective S) w -> minimiser C (objective S') w' ->
  norm (w - w') <= 2 * rho / (n%:R * mu).
Proof.
move=> adj mu0 rho0 convexC convexF lipschitz Dw Dw' minw minw'.
have n0 : 0 < n%:R :> R by case: adj => i _; rewrite ltr0n (leq_ltn_trans _ (ltn_ord i)).
have [z [z' swap]] := objective_swap adj.
have -> : 2 * rho / (n%:R * mu) = (n%:R^-1 * (2 * rho)) / mu.
  by set m := n%:R in n0 *; real_fields R; apply/eqP; rewrite lt0r_neq0.
apply: (le_quotient mu0 (norm_ge0 _ _)); first by rewrite mulr_ge0 ?invr_ge0 ?ler0n // mulr_ge0 // ler0n.
have g := strong_growth convexC (convexF S) ((minimiser_subgradient ip _ _ _).1 minw) minw'.1.
have g' := strong_growth convexC (convexF S') ((minimiser_subgradient ip _ _ _).1 minw') minw.1.
rewrite (norm_subC ip) in g; rewrite !dot0l in g g'.
have lz : loss z w' - loss z w <= rho * norm (w - w').
  by rewrite (le_trans (ler_norm _)) // distrC; exact: lipschitz.
have lz' : loss z' w - loss z' w' <= rho * norm (w - w').
  by rewrite (le_trans (ler_norm _)) //; exact: lipschitz.
apply: (@le_trans _ _ (n%:R^-1 * ((loss z w' - loss z w) + (loss z' w - loss z' w')))); last first.
  rewrite -mulrA; apply: ler_wpmul2l; first by rewrite invr_ge0 ltW.
  by apply: (@le_by2 _ _ _ _ _ _ _ lz lz'); real_ring R.
have -> : n%:R^-1 * ((loss z w' - loss z w) + (loss z' w - loss z' w')) =
    (objective S w' - objective S' w') - (objective S w - objective S' w).
  by rewrite !swap; set c := n%:R^-1; real_ring R.
by apply: (@le_by2 _ _ _ _ _ _ _ g g'); real_fields R.
Qed.

(* Gradients of norm at most rho at both ends make a convex loss rho-Lipschitz between them. *)
Lemma convex_lipschitz f (F : V -> V -> Prop) rho u v : convex C f -> slopes F f ->
  (forall s, F u s \/ F v s -> norm s <= rho) -> C u -> C v -> `|f u - f v| <= rho * norm (u - v).
Proof.
move=> convexf slope small Cu Cv.
have below x y : C x -> C y -> (forall s, F x s -> norm s <= rho) -> f x - f y <= rho * norm (x - y).
  move=> Cx Cy smallx; have [s Fs ds] := slope x (y - x).
  have hs : - << s, y - x >> <= rho * norm (x - y).
    rewrite -dotNr opprB; apply: (le_trans (dot_norm ip s (x - y))).
    by rewrite ler_wpmul2r ?norm_ge0 //; exact: smallx.
  apply: le_trans hs; apply: (@le_limit _ 1 _ _ 1 ltr01) => e /andP[e0 _].
  have [t0 t00 dt] := ds e e0; pose t := Num.min 1 t0.
  have tpos : 0 < t by rewrite lt_minr ltr01.
  have t01 : 0 <= t <= 1 by rewrite ltW //= le_minl lexx.
  have := dt t; rewrite tpos le_minl lexx orbT ler_norml => /(_ isT)/andP[low _].
  have chord := convexf _ _ _ Cx Cy t01; rewrite /between !mul0r subr0 in chord.
  by rewrite -(ler_pmul2l tpos); apply: (@le_by1 _ _ _ _ _ (ler_add low chord)); real_fields R.
rewrite ler_norml ler_oppl opprB; apply/andP; split; last by apply: below => // s ?; apply: small; left.
by rewrite norm_subC; apply: below => // s ?; apply: small; right.
Qed.

(* Page A1 with the checker's hypothesis: convex losses whose gradients have norm at most rho where minimisers lie. *)
Corollary A1_gradients n (S S' : 'I_n -> Z) (G : Z -> V -> V -> Prop) (rho mu : R) (D : V -> Prop) w w' :
  neighbours S S' -> 0 < mu -> convex_set C -> strongly_convex mu C penalty ->
  (forall z, convex C (loss z)) -> (forall z, slopes (G z) (loss z)) ->
  (forall x z s, D x -> G z x s -> norm s <= rho) -> D w -> D w' ->
  minimiser C (objective S) w -> minimiser C (objective S') w' ->
  norm (w - w') <= 2 * rho / (n%:R * mu).
Proof.
move=> adj mu0 convexC convexr convexl slope small Dw Dw' minw minw'.
have rho0 : 0 <= rho.
  by case: (adj) => i _; have [s Gs _] := slope (S i) w 0; exact: le_trans (norm_ge0 _ _) (small _ _ _ Dw Gs).
apply: (@A1 n S S' rho mu (fun x => D x /\ C x) w w' adj mu0 rho0 convexC) => //.
- by move=> T; exact: objective_convex.
- move=> z x y [Dx Cx] [Dy Cy]; apply: (convex_lipschitz (convexl z) (slope z)) => // s [Gs|Gs].
    exact: small Dx Gs.
  exact: small Dy Gs.
- by split=> //; exact: minw.1.
- by split=> //; exact: minw'.1.
Qed.

(* Page A4, "with the curvature of one dataset": points with subgradients p and p', of which one objective is strongly
   convex. G z w holds the (sub)gradients of the loss on the row z, and Gam is the diameter of their union at w'. *)
Theorem one_curvature n (S S' : 'I_n -> Z) (G : Z -> V -> V -> Prop) (Gam mu : R) w w' p p' :
  neighbours S S' -> 0 < mu -> convex_set C ->
  strongly_convex mu C (objective S) ->
  (forall z, slopes (G z) (loss z)) ->
  (forall z z' s s', G z w' s -> G z' w' s' -> norm (s - s') <= Gam) ->
  subgradient C (objective S) w p -> subgradient C (objective S') w' p' ->
  norm (w - w') <= (Gam / n%:R + norm p + norm p') / mu.
Proof.
move=> adj mu0 convexC convexF slope diameter subw subw'.
have n0 : 0 < (n%:R^-1 : R) by case: adj => i _; rewrite invr_gt0 ltr0n (leq_ltn_trans _ (ltn_ord i)).
have [z [z' swap]] := objective_swap adj.
set h := w - w'; have [s Gs ds] := slope z w' h; have [s' Gs' ds'] := slope z' w' h.
have Gam0 : 0 <= Gam by have := diameter _ _ _ _ Gs Gs; rewrite subrr norm0.
have c0 : 0 <= Gam / n%:R + norm p + norm p'.
  by rewrite !addr_ge0 ?(norm_ge0 ip) // mulr_ge0 // ltW.
apply: (le_quotient mu0 (norm_ge0 _ _) c0).
apply: (@le_trans _ _ (<< p, h >> - << p', h >> - n%:R^-1 * (<< s, h >> - << s', h >>))); last first.
  have hp := dot_norm ip p h; have hp' := dot_norm ip (- p') h; rewrite dotNl normN in hp'.
  have hs := ler_wpmul2l (ltW n0) (dot_norm ip (s' - s) h); rewrite dotBl in hs.
  have hG : n%:R^-1 * (norm (s' - s) * norm h) <= n%:R^-1 * (Gam * norm h).
    by rewrite ler_pmul2l // ler_wpmul2r ?(norm_ge0 ip) // norm_subC; exact: diameter Gs Gs'.
  apply: (@le_by1 _ _ _ _ _ (ler_add (ler_add hp hp') (le_trans hs hG))).
  by set c := n%:R^-1; real_ring R.
apply: (@le_limit _ 1 _ _ (2 * n%:R^-1) ltr01) => e /andP[e0 _].
have [t1 t10 dt] := ds _ e0; have [t2 t20 dt'] := ds' _ e0.
pose t0 := Num.min 1 (Num.min t1 t2).
have t00 : 0 < t0 by rewrite !lt_minr ltr01 t10.
apply: (@le_limit _ t0 _ _ (mu / 2 * norm h ^+ 2) t00) => t /andP[tpos].
rewrite !le_minr => /and3P[tle1 tt1 tt2].
have t01 : 0 <= t <= 1 by rewrite ltW.
pose x := between w' w t; have Cx : C x := convexC _ _ _ subw'.1 subw.1 t01.
have := dt t; rewrite tpos tt1 ler_norml => /(_ isT)/andP[low _].
have := dt' t; rewrite tpos tt2 ler_norml => /(_ isT)/andP[_ high].
rewrite -/(between w' w t) -/x in low high.
have grow := strong_growth convexC convexF subw subw'.1; rewrite (norm_subC ip) -opprB -/h dotNr in grow.
have curve := convexF _ _ _ subw'.1 subw.1 t01; rewrite -/x -/h in curve.
have := subw'.2 _ Cx; rewrite /x /between addrAC subrr add0r dotZr -/(between w' w t) -/x -/h => below.
have hx := swap x; have hw := swap w'.
have l1 := ler_wpmul2l (ltW n0) (ler_add low high).
rewrite -(ler_pmul2l tpos).
apply: (@le_by1 _ _ _ _ _ (ler_add (ler_add (ler_wpmul2l (ltW tpos) grow) curve) (ler_add below l1))).
have -> : objective S x = objective S' x + n%:R^-1 * (loss z x - loss z' x) by rewrite -hx; real_ring R.
have -> : objective S w' = objective S' w' + n%:R^-1 * (loss z w' - loss z' w') by rewrite -hw; real_ring R.
by set c := n%:R^-1; real_fields R.
Qed.

(* Page A2: exact minimisers, with the gradient diameter at minimisers in place of 2 rho. *)
Theorem A2 n (S S' : 'I_n -> Z) (G : Z -> V -> V -> Prop) (Gam mu : R) (D : V -> Prop) w w' :
  neighbours S S' -> 0 < mu -> convex_set C ->
  strongly_convex mu C (objective S) ->
  (forall z, slopes (G z) (loss z)) ->
  (forall x z z' s s', D x -> G z x s -> G z' x s' -> norm (s - s') <= Gam) ->
  (forall (S : 'I_n -> Z) x, minimiser C (objective S) x -> D x) ->
  minimiser C (objective S) w -> minimiser C (objective S') w' ->
  norm (w - w') <= Gam / (n%:R * mu).
Proof.
move=> adj mu0 convexC convexF slope diameter inD minw minw'.
have := one_curvature adj mu0 convexC convexF slope (fun z z' s s' => diameter w' z z' s s' (inD _ _ minw'))
  ((minimiser_subgradient ip _ _ _).1 minw) ((minimiser_subgradient ip _ _ _).1 minw').
by rewrite norm0 !addr0 invfM mulrA.
Qed.

(* Page ball. *)
Theorem ball n (S S' : 'I_n -> Z) (radius : R) w w' :
  (forall (S : 'I_n -> Z) x, minimiser C (objective S) x -> norm x <= radius) ->
  minimiser C (objective S) w -> minimiser C (objective S') w' ->
  norm (w - w') <= 2 * radius.
Proof.
move=> bound /bound hw /bound hw'; apply: (le_trans (norm_triangle _ _ _)).
by rewrite normN; apply: (@le_by2 _ _ _ _ _ _ _ hw hw'); real_ring R.
Qed.

End minimisers.
