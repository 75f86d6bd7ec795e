(* Page A2, lemma R: how far from 0 a minimiser can lie; and the diameter 2 l B of losses with slopes of at most l. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Losses.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section radius.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Variables (Z : Type) (loss : Z -> V -> R) (G : Z -> V -> V -> Prop) (penalty : V -> R) (C : V -> Prop).
Implicit Types (w h : V) (mu pull : R).
Add Field reals : (real_field R).
Local Notation "<< x , y >>" := (dot ip x y) (at level 0, x at level 99, y at level 99).
Local Notation norm := (norm ip).

(* The derivative of the mean loss along h is at most a if that of every row is. *)
Lemma mean_directional n (S : 'I_n -> Z) w h (a e : R) : (0 < n)%N -> 0 < e ->
  (forall z, slopes ip (G z) (loss z)) -> (forall z s, G z w s -> << s, h >> <= a) ->
  exists2 t0, 0 < t0 & forall t, 0 < t <= t0 ->
    n%:R^-1 * (\sum_i loss (S i) (w + t *: h)) <= n%:R^-1 * (\sum_i loss (S i) w) + t * (a + e).
Proof.
move=> n0 e0 slope bound.
suff [t0 t00 near] : exists2 t0, 0 < t0 & forall t, 0 < t <= t0 ->
    forall i, loss (S i) (w + t *: h) <= loss (S i) w + t * (a + e).
  exists t0 => // t tt0; have N0 : 0 < n%:R :> R by rewrite ltr0n.
  rewrite -(ler_pmul2l N0) mulrDr !mulrA divff ?gt_eqF // !mul1r.
  apply: (@le_trans _ _ (\sum_i (loss (S i) w + t * (a + e)))); first by apply: ler_sum => i _; exact: near.
  by rewrite big_split /= sumr_const card_ord -[X in _ + X <= _]mulr_natl mulrA.
have each i : exists2 t0, 0 < t0 & forall t, 0 < t <= t0 -> loss (S i) (w + t *: h) <= loss (S i) w + t * (a + e).
  have [s Gs ds] := slope (S i) w h; have [t0 t00 near] := ds e e0; exists t0 => // t tt0.
  have := near t tt0; rewrite ler_norml => /andP[_ high].
  have ta : t * << s, h >> <= t * a by rewrite ler_wpmul2l ?(bound _ _ Gs) //; case/andP: tt0 => /ltW.
  apply: (@le_by2 _ _ _ _ _ _ _ high ta); set y := w + t *: h; real_ring R.
have [f fP] := choice (fun i => let: ex_intro2 t t0 tP := each i in ex_intro _ t (conj t0 tP)).
have smallest (r : seq 'I_n) i : i \in r -> \big[Num.min/1]_(j <- r) f j <= f i.
  elim: r => // j r IH; rewrite inE big_cons le_minl => /predU1P[->|/IH ->]; rewrite ?lexx ?orbT //.
exists (\big[Num.min/1]_i f i) => [|t /andP[t0 tmin] i].
  by elim/big_ind: _ => // [x y x0 y0|i _]; [rewrite lt_minr x0|exact: (fP i).1].
by apply: (fP i).2; rewrite t0 /= (le_trans tmin) // smallest // mem_index_enum.
Qed.

(* Lemma R. The penalty is smallest at 0; it need not be differentiable. *)
Theorem lemma_R n (S : 'I_n -> Z) mu pull w : (0 < n)%N -> convex_set C ->
  strongly_convex ip mu C penalty -> minimiser C penalty 0 ->
  (forall z, slopes ip (G z) (loss z)) -> (forall z s, G z w s -> - << s, w >> <= pull) ->
  minimiser C (objective loss penalty S) w -> mu * norm w ^+ 2 <= pull.
Proof.
move=> n0 convexC convexr min0 slope bound [Cw minw].
apply: (@le_limit _ 1 _ _ 1 ltr01) => e /andP[e0 _]; rewrite mulr1.
have [z s|t0 t00 near] := mean_directional S n0 e0 slope (a := pull) (h := - w) (w := w).
  by rewrite dotNr; exact: bound.
apply: (@le_limit _ (Num.min 1 t0) _ _ (mu / 2 * norm w ^+ 2)) => [|t /andP[tpos]]; first by rewrite lt_minr ltr01.
rewrite le_minr => /andP[t1 tt0]; have t01 : 0 <= t <= 1 by rewrite ltW.
have C0 := min0.1; have toward : w + t *: - w = between w 0 t by rewrite /between sub0r.
have h1 := near t; rewrite tpos tt0 toward in h1; have {}h1 := h1 isT.
have h2 := convexr w 0 t Cw C0 t01; rewrite sub0r normN in h2.
have h3 := strong_growth convexC convexr ((minimiser_subgradient ip _ _ _).1 min0) Cw.
rewrite dot0l subr0 addr0 in h3.
have h4 := minw _ (convexC _ _ _ Cw C0 t01).
rewrite /objective in h4; rewrite -(ler_pmul2l tpos).
have h5 := ler_wpmul2l (ltW tpos) h3.
apply: (@le_by1 _ _ _ _ _ (ler_add (ler_add h1 h2) (ler_add h4 h5))).
by set c := n%:R^-1; real_fields R.
Qed.

(* Page A2: Gam <= 2 l B for rows of norm at most B and slopes of size at most l, at every w. *)
Lemma slope_diameter (phi phi' : R -> R) (x x' : V) (l B : R) w s s' :
  (forall m a, subslope phi m a -> `|a| <= l) -> (forall m a, subslope phi' m a -> `|a| <= l) ->
  norm x <= B -> norm x' <= B ->
  prediction_slopes ip phi x w s -> prediction_slopes ip phi' x' w s' -> norm (s - s') <= 2 * (l * B).
Proof.
move=> slope slope' xB xB' [a /slope al ->] [a' /slope' al' ->].
apply: (le_trans (norm_triangle _ _ _)); rewrite normN !normZ.
have h : `|a| * norm x <= l * B by rewrite ler_pmul ?norm_ge0.
have h' : `|a'| * norm x' <= l * B by rewrite ler_pmul ?norm_ge0.
by apply: (@le_by2 _ _ _ _ _ _ _ h h'); real_ring R.
Qed.

End radius.
