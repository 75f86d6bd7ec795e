(* Gradients of convex, smooth functions: co-coercivity, and the steps of pages B1 and B3, which do not expand. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct Losses.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section gradients.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Implicit Types (f : V -> R) (g G : V -> V) (u v w x y : V) (beta mu eta : R).
Add Field reals : (real_field R).

Local Notation "<< x , y >>" := (dot ip x y) (at level 0, x at level 99, y at level 99).
Local Notation norm := (norm ip).

(* f is convex and g its gradient, which changes by at most beta a unit. (A convex function lies above its tangents;
   a Lipschitz choice of subgradients is the gradient.) *)
Definition smooth beta f g :=
  (forall w, subgradient ip (fun=> True) f w (g w)) /\
  (forall w v, norm (g w - g v) <= beta * norm (w - v)).

(* The tangent plus a parabola lies above: by many small steps, without a derivative. *)
Lemma small_steps beta f g w h (s : R) k : 0 <= s -> smooth beta f g ->
  f (w + (k%:R * s) *: h) <= f w + (k%:R * s) * << g w, h >>
    + beta * norm h ^+ 2 * s ^+ 2 * (k%:R * (k%:R + 1)) / 2.
Proof.
move=> s0 [sub lip]; elim: k => [|k IH].
  rewrite !mul0r scale0r !addr0 mulr0 mul0r addr0; exact: lexx.
rewrite -addn1 natrD; move: IH; set K := k%:R => IH.
have K0 : 0 <= K by exact: ler0n.
set p := w + (K * s) *: h in IH *; set p' := w + ((K + 1) * s) *: h.
have [_ /(_ p I) below] := sub p'.
have gap : p - p' = - (s *: h).
  by rewrite /p /p' opprD addrACA subrr add0r -scalerBl -scaleNr; congr (_ *: _); real_ring R.
have away : p' - w = ((K + 1) * s) *: h by rewrite /p' addrAC subrr add0r.
rewrite gap dotNr dotZr in below.
have c0 : 0 <= (K + 1) * s by rewrite mulr_ge0 // addr_ge0 // ler01.
have steep : << g p' - g w, h >> <= beta * ((K + 1) * s * norm h) * norm h.
  apply: le_trans (dot_norm ip _ _) _; apply: ler_wpmul2r; first exact: norm_ge0.
  by have := lip p' w; rewrite away normZ ger0_norm.
rewrite dotBl in steep; have {}steep := ler_wpmul2l s0 steep.
have step := ler_add IH below.
apply: (@le_by2 _ _ _ _ _ _ _ step steep); real_fields R.
Qed.

Lemma parabola_above beta f g w v : 0 <= beta -> smooth beta f g ->
  f v <= f w + << g w, v - w >> + beta / 2 * norm (v - w) ^+ 2.
Proof.
move=> beta0 fg; set h := v - w.
apply: (@le_limit _ 1 _ _ (beta / 2 * norm h ^+ 2) ltr01) => t /andP[t0 _].
pose n := Num.bound t^-1; have bound : t^-1 < n%:R by apply: archi_boundP; rewrite invr_ge0 ltW.
have n0 : 0 < n%:R :> R by rewrite (le_lt_trans _ bound) // invr_ge0 ltW.
have small : n%:R^-1 <= t by rewrite -(invrK t) lef_pinv ?posrE ?invr_gt0 // ltW.
have s0 : 0 <= n%:R^-1 :> R by rewrite invr_ge0 ltW.
have := small_steps w h n s0 fg; rewrite divff ?gt_eqF // scale1r mul1r {1}/h addrC subrK => steps.
have c0 : 0 <= beta / 2 * norm h ^+ 2.
  by rewrite mulr_ge0 ?sqr_ge0 // mulr_ge0 // invr_ge0 ler0n.
have rest := ler_wpmul2r c0 small.
apply: (@le_by2 _ _ _ _ _ _ _ steps rest).
by move: n0; set N := n%:R => n0; real_fields R; apply/eqP; rewrite gt_eqF.
Qed.

Definition cocoercive beta G := forall w v, norm (G w - G v) ^+ 2 <= beta * << G w - G v, w - v >>.

(* A convex function is above its tangent by the square of what the gradient changes. *)
Lemma above_tangent beta f g w v : 0 < beta -> smooth beta f g ->
  f w + << g w, v - w >> + norm (g v - g w) ^+ 2 / (2 * beta) <= f v.
Proof.
move=> beta0 fg; set d := g v - g w; set y := v - beta^-1 *: d.
have [_ /(_ y I) below] := fg.1 w; have above := parabola_above v y (ltW beta0) fg.
have yv : y - v = - (beta^-1 *: d) by rewrite /y addrAC subrr add0r.
have yw : y - w = (v - w) - beta^-1 *: d by rewrite /y addrAC.
rewrite yw dotBr dotZr in below.
rewrite yv dotNr dotZr normN normZ exprMn real_normK ?num_real // in above.
apply: (@le_by2 _ _ _ _ _ _ _ below above); rewrite !sqr_norm /d !(dotBl, dotBr) (dotC ip (g w) (g v)).
by real_fields R; apply/eqP; rewrite gt_eqF.
Qed.

(* Co-coercivity of gradients of convex, smooth functions. *)
Theorem gradient_cocoercive beta f g : 0 <= beta -> smooth beta f g -> cocoercive beta g.
Proof.
rewrite le_eqVlt => /predU1P[<- fg w v|beta0 fg w v].
  have := fg.2 w v; rewrite !mul0r => le0.
  by rewrite (_ : norm (g w - g v) = 0) ?expr0n //; apply/eqP; rewrite eq_le le0 norm_ge0.
have h := above_tangent w v beta0 fg; have h' := above_tangent v w beta0 fg.
rewrite (norm_subC ip (g v)) in h; have {h h'} := ler_add h h'.
set N := norm _ ^+ 2 => sum; rewrite -(ler_pmul2l (x := beta^-1)) ?invr_gt0 //.
apply: (@le_by1 _ _ _ _ _ sum); rewrite !dotBr !dotBl.
by real_fields R; apply/eqP; rewrite gt_eqF.
Qed.

(* What a common step of length eta with a ridge mu leaves of a distance, page B3. *)
Definition shrinkage beta mu eta := Num.max `|1 - eta * mu| `|1 - eta * (beta + mu)|.

Lemma shrinkage_ge0 beta mu eta : 0 <= shrinkage beta mu eta.
Proof. by rewrite le_maxr normr_ge0. Qed.

Lemma shrinkage_le1 beta mu eta : 0 <= beta -> 0 <= mu -> 0 <= eta -> eta * (beta + mu) <= 2 ->
  shrinkage beta mu eta <= 1.
Proof.
move=> beta0 mu0 eta0 small; have etamu : eta * mu <= eta * (beta + mu).
  by rewrite ler_wpmul2l // ler_addr.
have m0 : 0 <= eta * mu by exact: mulr_ge0.
have within (x : R) : 0 <= x -> x <= 2 -> `|1 - x| <= 1.
  by move=> x0 x2; rewrite ler_norml ler_subl_addr ler_addl x0 andbT; apply: (@le_by1 _ _ _ _ _ x2); real_ring R.
by rewrite le_maxl !within // ?(le_trans _ etamu) // (le_trans etamu).
Qed.

Lemma shrinkage_lt1 beta mu eta : 0 <= beta -> 0 < mu -> 0 < eta -> eta * (beta + mu) < 2 ->
  shrinkage beta mu eta < 1.
Proof.
move=> beta0 mu0 eta0 small; have etamu : eta * mu <= eta * (beta + mu).
  by rewrite ler_pmul2l // ler_addr.
have m0 : 0 < eta * mu by exact: mulr_gt0.
have within (x : R) : 0 < x -> x < 2 -> `|1 - x| < 1.
  move=> x0 x2; rewrite ltr_norml ltr_subl_addr ltr_addl x0 andbT -subr_gt0.
  by rewrite (_ : _ - _ = 2 - x) ?subr_gt0 //; real_ring R.
by rewrite lt_maxl !within // ?(lt_le_trans _ etamu) // (le_lt_trans etamu).
Qed.

(* 1 - eta mu is the larger of the two as soon as eta (beta + 2 mu) <= 2. *)
Lemma shrinkage_small beta mu eta : 0 <= beta -> 0 <= eta -> eta * (beta + 2 * mu) <= 2 ->
  shrinkage beta mu eta = 1 - eta * mu.
Proof.
move=> beta0 eta0 small; have eb : 0 <= eta * beta by exact: mulr_ge0.
have half : 0 <= 1 - eta * mu.
  rewrite -(pmulr_rge0 _ (ltr0Sn R 1)); have := ler_add small eb.
  by move=> h; apply: (@le_by1 _ _ _ _ _ h); real_ring R.
rewrite /shrinkage (ger0_norm half); apply/max_idPl; rewrite ler_norml; apply/andP; split.
  by apply: (@le_by1 _ _ _ _ _ small); real_ring R.
by apply: (@le_by1 _ _ _ _ _ eb); real_ring R.
Qed.

Lemma norm_le x (a : R) : 0 <= a -> norm x ^+ 2 <= a ^+ 2 -> norm x <= a.
Proof. by move=> a0; rewrite ler_pexpn2r // nnegrE norm_ge0. Qed.

(* The step of a batch with gradient G and a ridge. *)
Definition descent_step mu eta G w := w - eta *: (G w + mu *: w).

Theorem gradient_step_shrinks beta mu eta G w v : 0 <= beta -> 0 <= eta -> cocoercive beta G ->
  norm (descent_step mu eta G w - descent_step mu eta G v) <= shrinkage beta mu eta * norm (w - v).
Proof.
move=> beta0 eta0 coco; set D := w - v; set dG := G w - G v.
have -> : descent_step mu eta G w - descent_step mu eta G v = (1 - eta * mu) *: D - eta *: dG.
  rewrite /descent_step opprD addrACA -opprD -scalerBr opprD addrACA -scalerBr -/dG -/D.
  by rewrite scalerDr scalerA opprD scalerBl scale1r addrA addrAC.
have := coco w v; rewrite -/dG -/D => square; clearbody D dG.
apply: norm_le; first by rewrite mulr_ge0 ?shrinkage_ge0 ?norm_ge0.
rewrite exprMn !sqr_norm !(dotBl, dotBr, dotZl, dotZr) (dotC ip D dG) -!sqr_norm.
set s := << dG, D >> in square *.
have steep : norm dG <= beta * norm D.
  have [/eqP d0|d0] := eqVneq (norm dG) 0; first by rewrite (eqP d0) mulr_ge0 ?norm_ge0.
  have pos : 0 < norm dG by rewrite lt_def d0 norm_ge0.
  rewrite -(ler_pmul2l pos) -expr2 (le_trans square) // mulrCA ler_wpmul2l //; exact: dot_norm.
have sD : s <= beta * norm D ^+ 2.
  by rewrite (le_trans (dot_norm ip _ _)) // expr2 mulrA ler_wpmul2r ?norm_ge0.
have s0 : 0 <= beta * s by exact: le_trans (sqr_ge0 _) square.
have etas := ler_wpmul2l (sqr_ge0 eta) square.
have q2 (a : R) : `|a| <= shrinkage beta mu eta -> a ^+ 2 * norm D ^+ 2 <= shrinkage beta mu eta ^+ 2 * norm D ^+ 2.
  move=> le; rewrite ler_wpmul2r ?sqr_ge0 // -[a ^+ 2]real_normK ?num_real // ler_pexpn2r ?nnegrE ?shrinkage_ge0 //.
have [small|/ltW large] := lerP (eta * (beta + 2 * mu)) 2.
  have first : `|1 - eta * mu| <= shrinkage beta mu eta by rewrite le_maxr lexx.
  apply: le_trans (q2 _ first).
  have s00 : 0 <= s.
    have [b0|b0] := eqVneq beta 0; last by move: s0; rewrite pmulr_rge0 // lt_def b0.
    have : norm dG = 0 by apply/eqP; rewrite eq_le norm_ge0 andbT (le_trans steep) // b0 mul0r.
    move=> dG0; have := dot_norm ip (- dG) D; rewrite dotNl normN dG0 mul0r -/s; by rewrite oppr_le0.
  have last : 0 <= eta * s * (2 - eta * (beta + 2 * mu)) by rewrite !mulr_ge0 // subr_ge0.
  apply: (@le_by2 _ _ _ _ _ _ _ etas last); real_ring R.
have second : `|1 - eta * (beta + mu)| <= shrinkage beta mu eta by rewrite le_maxr lexx orbT.
apply: le_trans (q2 _ second).
have factor : 0 <= eta * (eta * (beta + 2 * mu) - 2) by rewrite mulr_ge0 // subr_ge0.
have last := ler_wpmul2l factor sD.
apply: (@le_by2 _ _ _ _ _ _ _ etas last); real_ring R.
Qed.

(* p is the proximal point of x for h on C: the projection onto C for h = 0, the soft threshold for an L1 penalty. *)
Definition proximal (C : V -> Prop) f x p := minimiser C (fun u => f u + 2^-1 * norm (u - x) ^+ 2) p.

Theorem proximal_nonexpansive C f x y p q : convex_set C -> convex ip C f ->
  proximal C f x p -> proximal C f y q -> norm (p - q) <= norm (x - y).
Proof.
move=> convexC convexf px qy.
have strong z : strongly_convex ip 1 C (fun u => f u + 2^-1 * norm (u - z) ^+ 2).
  move=> u v t Cu Cv t01; have h := convexf u v t Cu Cv t01.
  apply: (@le_by1 _ _ _ _ _ h); rewrite !sqr_norm /between !(dotBl, dotBr, dotDl, dotDr, dotZl, dotZr, dotNl, dotNr).
  rewrite !(dotC ip z) (dotC ip v u); real_fields R.
have h := strong_growth convexC (strong x) ((minimiser_subgradient ip _ _ _).1 px) qy.1.
have h' := strong_growth convexC (strong y) ((minimiser_subgradient ip _ _ _).1 qy) px.1.
have {h h'} := ler_add h h'; rewrite !dot0l (norm_subC ip q p) => sum.
have inner : norm (p - q) ^+ 2 <= << x - y, p - q >>.
  apply: (@le_by1 _ _ _ _ _ sum); rewrite !sqr_norm !(dotBl, dotBr).
  rewrite !(dotC ip x) !(dotC ip y) (dotC ip q p); real_fields R.
have [/eqP d0|d0] := eqVneq (norm (p - q)) 0; first by rewrite (eqP d0) norm_ge0.
have pos : 0 < norm (p - q) by rewrite lt_def d0 norm_ge0.
by rewrite -(ler_pmul2r pos) -expr2 (le_trans inner) // dot_norm.
Qed.

(* A loss of one prediction, whose slopes change by at most c a unit, on a row of norm at most B: beta = c B^2. *)
Lemma prediction_smooth (phi slope : R -> R) x (c B : R) : 0 <= c -> norm x <= B ->
  (forall m, subslope phi m (slope m)) -> (forall a b, `|slope a - slope b| <= c * `|a - b|) ->
  smooth (c * B ^+ 2) (fun w => phi << w, x >>) (fun w => slope << w, x >> *: x).
Proof.
move=> c0 xB sub lip; split=> [w|w v].
  by split=> // v _; rewrite dotZl (dotC ip x (v - w)) dotBl; exact: sub.
rewrite -scalerBl normZ; have xx : norm x ^+ 2 <= B ^+ 2.
  by rewrite ler_pexpn2r ?nnegrE ?(le_trans (norm_ge0 ip x) xB) ?norm_ge0.
apply: (@le_trans _ _ (c * `| << w - v, x >> | * norm x)).
  by apply: ler_wpmul2r; [exact: norm_ge0|rewrite dotBl; exact: lip].
have h := dot_norm ip (w - v) x; have h' := dot_norm ip (- (w - v)) x.
have size : `| << w - v, x >> | <= norm (w - v) * norm x.
  by rewrite ler_norml h andbT ler_oppl -dotNl -(normN ip (w - v)).
apply: (@le_trans _ _ (c * (norm (w - v) * norm x) * norm x)).
  by rewrite ler_wpmul2r ?norm_ge0 // ler_wpmul2l.
have scale : 0 <= c * norm (w - v) by rewrite mulr_ge0 ?norm_ge0.
by have := ler_wpmul2l scale xx => room; apply: (@le_by1 _ _ _ _ _ room); real_ring R.
Qed.

End gradients.
