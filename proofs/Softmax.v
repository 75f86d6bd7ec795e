(* Page A2, (vii): the multinomial loss, several predictions a row. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals topology normedtype sequences exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Losses Radius Groups Exponentials.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* One vector of weights a class. *)
Section stacked.
Variables (R : realType) (V : lmodType R) (ip : inner_product V) (c : nat).
Local Notation W := [lmodType R of {ffun 'I_c -> V}].
Implicit Types x y z : W.

Definition stacked_dot x y : R := \sum_k dot ip (x k) (y k).

Lemma stacked_dotC x y : stacked_dot x y = stacked_dot y x.
Proof. by apply: eq_bigr => k _; exact: dotC. Qed.

Lemma stacked_dotDl x y z : stacked_dot (x + y) z = stacked_dot x z + stacked_dot y z.
Proof. by rewrite -big_split; apply: eq_bigr => k _; rewrite ffunE dotDl. Qed.

Lemma stacked_dotZl a x y : stacked_dot (a *: x) y = a * stacked_dot x y.
Proof. by rewrite mulr_sumr; apply: eq_bigr => k _; rewrite ffunE dotZl. Qed.

Lemma stacked_dot_gt0 x : x != 0 -> 0 < stacked_dot x x.
Proof.
move=> x0; rewrite lt_def sumr_ge0 ?andbT; last by move=> k _; exact: dot_ge0.
apply: contraNneq x0 => /eqP; rewrite psumr_eq0; last by move=> k _; exact: dot_ge0.
move=> /allP zero; apply/eqP/ffunP => k; rewrite ffunE; apply/eqP.
have := zero k (mem_index_enum k); rewrite implyTb; apply: contraTT => /(dot_gt0 ip).
by rewrite lt_def => /andP[].
Qed.

Definition stacked : inner_product W :=
  InnerProduct stacked_dotC stacked_dotDl stacked_dotZl stacked_dot_gt0.

Lemma norm_part x k : norm ip (x k) <= norm stacked x.
Proof.
apply: ler_wsqrtr; rewrite /= /stacked_dot (bigD1 k) //= ler_addl.
by apply: sumr_ge0 => j _; exact: dot_ge0.
Qed.

(* Two parts together are at most as long as all. *)
Lemma norm_two_parts x j k : j != k -> norm ip (x j) ^+ 2 + norm ip (x k) ^+ 2 <= norm stacked x ^+ 2.
Proof.
move=> jk; rewrite !sqr_norm /= /stacked_dot (bigD1 j) //= (bigD1 k) /=; last by rewrite eq_sym.
by rewrite addrA ler_addl; apply: sumr_ge0 => i _; exact: dot_ge0.
Qed.

End stacked.

Section multinomial.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Add Field reals : (real_field R).

(* A function above its tangents whose gradient is continuous along lines has that gradient for slopes. *)
Lemma continuous_slopes (U : lmodType R) (jp : inner_product U) (f : U -> R) (g : U -> U) :
  (forall w, subgradient jp (fun=> True) f w (g w)) ->
  (forall w h (e : R), 0 < e -> exists2 t0, 0 < t0 & forall t, 0 < t <= t0 -> dot jp (g (w + t *: h) - g w) h <= e) ->
  slopes jp (fun w s => s = g w) f.
Proof.
move=> sub near; apply: gradient_slopes => w h e e0; have [t0 t00 small] := near w h e e0.
exists t0 => // t tt0; have [tpos _] := andP tt0; set y := w + t *: h.
have step : y - w = t *: h by rewrite /y addrAC subrr add0r.
have [_ /(_ y I) below] := sub w; have [_ /(_ w I) above] := sub y.
rewrite -opprB step dotNr dotZr in above; rewrite step dotZr in below.
have close := ler_wpmul2l (ltW tpos) (small t tt0); rewrite -/y dotBl in close.
rewrite ger0_norm; first by apply: (@le_by2 _ _ _ _ _ _ _ above close); real_ring R.
by apply: (@le_by1 _ _ _ _ _ below); real_ring R.
Qed.

Variables (c : nat).
Implicit Types (m a p : 'I_c -> R) (y k : 'I_c).

(* Jensen for the exponential. *)
Lemma expR_mean p a : (forall k, 0 <= p k) -> \sum_k p k = 1 -> expR (\sum_k p k * a k) <= \sum_k p k * expR (a k).
Proof.
move=> p0 p1; set mean := \sum_k p k * a k.
apply: (@le_trans _ _ (\sum_k p k * (expR mean * (1 + (a k - mean))))); last first.
  by apply: ler_sum => k _; rewrite ler_wpmul2l //; exact: expR_tangent.
rewrite (eq_bigr (fun k => expR mean * (p k * a k) + expR mean * (1 - mean) * p k)); last by move=> k _; real_ring R.
rewrite big_split /= -!mulr_sumr -/mean p1 le_eqVlt; apply/orP; left; apply/eqP; real_ring R.
Qed.

Definition mass m : R := \sum_k expR (m k).
Definition chance m k : R := expR (m k) / mass m.

Lemma mass_gt0 m y : 0 < mass m.
Proof.
rewrite /mass (bigD1 y) //= ltr_spaddl ?expR_gt0 //.
by apply: sumr_ge0 => k _; rewrite ltW // expR_gt0.
Qed.

Lemma chance_gt0 m k : 0 < chance m k.
Proof. by rewrite divr_gt0 ?expR_gt0 // mass_gt0. Qed.

Lemma chance_sum m y : \sum_k chance m k = 1.
Proof. by rewrite -mulr_suml divff // gt_eqF // (mass_gt0 m y). Qed.

Lemma chance_rest m y : \sum_(k | k != y) chance m k = 1 - chance m y.
Proof. by rewrite -(chance_sum m y) [in RHS](bigD1 y) //= addrAC subrr add0r. Qed.

Definition log_loss y m : R := ln (mass m) - m y.
Definition log_slope y m k : R := chance m k - (k == y)%:R.

Lemma log_loss_below y m m' : log_loss y m + \sum_k log_slope y m k * (m' k - m k) <= log_loss y m'.
Proof.
have -> : \sum_k log_slope y m k * (m' k - m k) = \sum_k chance m k * (m' k - m k) - (m' y - m y).
  rewrite (eq_bigr (fun k => chance m k * (m' k - m k) - (k == y)%:R * (m' k - m k))); last first.
    by move=> k _; rewrite /log_slope mulrBl.
  rewrite sumrB; congr (_ - _); rewrite (bigD1 y) //= eqxx mul1r big1 ?addr0 // => k /negbTE ->.
  by rewrite mul0r.
set s := \sum_k _; suff : ln (mass m) + s <= ln (mass m').
  by move=> h; apply: (@le_by1 _ _ _ _ _ h); rewrite /log_loss; real_ring R.
have pos := mass_gt0 m y; have pos' := mass_gt0 m' y.
have -> : ln (mass m) + s = ln (mass m * expR s) by rewrite lnM ?posrE ?expR_gt0 // expK.
rewrite ler_ln ?posrE ?mulr_gt0 ?expR_gt0 //.
apply: (@le_trans _ _ (mass m * \sum_k chance m k * expR (m' k - m k))).
  by rewrite ler_pmul2l //; apply: expR_mean => [k|]; [exact: ltW (chance_gt0 m k)|exact: chance_sum m y].
rewrite mulr_sumr; apply: ler_sum => k _.
by rewrite /chance mulrA mulrCA divff ?gt_eqF // mulr1 -expRD addrC subrK.
Qed.

(* The slope is at most sqrt 2 (1 - p_y) long. *)
Lemma sum_squares (I : finType) (P : pred I) (a : I -> R) : (forall i, P i -> 0 <= a i) ->
  \sum_(i | P i) a i ^+ 2 <= (\sum_(i | P i) a i) ^+ 2.
Proof.
move=> a0; rewrite expr2 mulr_suml; apply: ler_sum => i Pi; rewrite expr2 ler_wpmul2l ?a0 //.
by rewrite (bigD1 i) //= ler_addl; apply: sumr_ge0 => j /andP[Pj _]; exact: a0.
Qed.

Lemma log_slope_square y m : \sum_k log_slope y m k ^+ 2 <= 2 * (1 - chance m y) ^+ 2.
Proof.
rewrite (bigD1 y) //= /log_slope eqxx.
have -> : \sum_(k | k != y) (chance m k - (k == y)%:R) ^+ 2 = \sum_(k | k != y) chance m k ^+ 2.
  by apply: eq_bigr => k /negbTE ->; rewrite subr0.
have := sum_squares (fun k (_ : k != y) => ltW (chance_gt0 m k)); rewrite chance_rest; set others := \sum_(k | _) _ => h.
by apply: (@le_by1 _ _ _ _ _ h); rewrite /= mulr1n; real_ring R.
Qed.

(* The code's bound: all other classes are ahead by at most a. *)
Definition slope_factor (a : R) : R := 1 - (1 + (c.-1)%:R * expR a)^-1.

Lemma chance_low y m (a : R) : (forall k, m k - m y <= a) -> 1 - chance m y <= slope_factor a.
Proof.
move=> ahead; rewrite ler_add2l ler_opp2 /chance.
have e0 := expR_gt0 (m y); have pos := mass_gt0 m y.
have den : 0 < 1 + (c.-1)%:R * expR a by rewrite ltr_paddr ?ltr01 // mulr_ge0 ?ler0n // ltW // expR_gt0.
rewrite ler_pdivl_mulr // mulrC ler_pdivr_mulr // mulrDr mulr1 {1}/mass (bigD1 y) //= ler_add2l.
apply: (@le_trans _ _ (\sum_(k | k != y) expR (m y) * expR a)).
  apply: ler_sum => k _; rewrite -expRD ler_expR.
  by apply: (@le_by1 _ _ _ _ _ (ahead k)); real_ring R.
by rewrite sumr_const cardC1 card_ord -[_ *+ _]mulr_natl mulrCA.
Qed.

(* The pull: at most u with u e^(1 + u) >= K - 1. *)
Lemma log_pull y m (u : R) : 0 <= u -> (c.-1)%:R <= u * expR (1 + u) -> - (\sum_k log_slope y m k * m k) <= u.
Proof.
move=> u0 top; have pos := mass_gt0 m y; have e0 := expR_gt0 (m y).
have -> : - (\sum_k log_slope y m k * m k) = \sum_k chance m k * (m y - m k).
  rewrite (eq_bigr (fun k => chance m k * m k - (k == y)%:R * m k)); last by move=> k _; rewrite mulrBl.
  rewrite sumrB opprB [X in X - _](bigD1 y) //= eqxx mul1r big1 ?addr0 => [|k /negbTE ->]; last by rewrite mul0r.
  rewrite [RHS](eq_bigr (fun k => m y * chance m k - chance m k * m k)); last by move=> k _; real_ring R.
  by rewrite sumrB -mulr_sumr (chance_sum m y) mulr1.
have each k : expR (m k) * (m y - m k - u) <= expR (m y) * expR (- (1 + u)).
  have t := expR_tangent (1 + u) (m y - m k).
  have q0 : 0 <= expR (m k) * expR (- (1 + u)) by rewrite -expRD ltW // expR_gt0.
  have := ler_wpmul2l q0 t.
  have -> : expR (m k) * expR (- (1 + u)) * expR (m y - m k) = expR (m y) * expR (- (1 + u)).
    by rewrite -!expRD; congr expR; real_ring R.
  have -> : expR (m k) * expR (- (1 + u)) * (expR (1 + u) * (1 + (m y - m k - (1 + u)))) =
      expR (m k) * (m y - m k - u) * (expR (- (1 + u)) * expR (1 + u)).
    by move: (expR (- _)) (expR (1 + u)) (expR (m k)) => A B C; real_ring R.
  by rewrite [expR (- _) * expR (1 + u)]mulrC expRxMexpNx_1 mulr1.
rewrite -subr_le0; have -> : \sum_k chance m k * (m y - m k) - u = (\sum_k expR (m k) * (m y - m k - u)) / mass m.
  have e : u = \sum_k chance m k * u by rewrite -mulr_suml (chance_sum m y) mul1r.
  rewrite {1}e -sumrB mulr_suml; apply: eq_bigr => k _; by rewrite /chance -mulrBr mulrAC.
rewrite pmulr_lle0 ?invr_gt0 // (bigD1 y) //= subrr sub0r.
apply: (@le_trans _ _ (expR (m y) * - u + \sum_(k | k != y) expR (m y) * expR (- (1 + u)))).
  by rewrite ler_add2l; apply: ler_sum => k _; exact: each.
rewrite sumr_const cardC1 card_ord -[_ *+ _]mulr_natl mulrCA -mulrDr pmulr_rle0 //.
rewrite addrC subr_le0 expRN ler_pdivr_mulr ?expR_gt0 //.
Qed.

(* Chances change little with the predictions. *)
Lemma expR_small (z : R) : 0 <= z -> z <= 2^-1 -> expR z - 1 <= 2 * z.
Proof.
move=> z0 z1; have e0 := ltW (expR_gt0 z); have t := ler_wpmul2l e0 (expR_tangent0 (- z)).
rewrite expRxMexpNx_1 in t; have half := ler_wpmul2l e0 z1.
have e2 : expR z <= 2.
  have two : 0 <= 2 :> R by rewrite ler0n.
  by apply: (@le_by2 _ _ _ _ _ _ _ (ler_wpmul2l two t) (ler_wpmul2l two half)); real_fields R.
by apply: (@le_by2 _ _ _ _ _ _ _ t (ler_wpmul2l z0 e2)); real_ring R.
Qed.

Lemma chance_near m a (t M : R) k : 0 <= t -> (forall j, `|a j| <= M) ->
  chance (fun j => m j + t * a j) k <= expR (2 * (t * M)) * chance m k /\
  expR (- (2 * (t * M))) * chance m k <= chance (fun j => m j + t * a j) k.
Proof.
move=> t0 aM; set m' := fun j => m j + t * a j.
have low j : expR (- (t * M)) * expR (m j) <= expR (m' j).
  have := aM j; rewrite ler_norml => /andP[h _]; rewrite -expRD ler_expR /m'.
  by apply: (@le_by1 _ _ _ _ _ (ler_wpmul2l t0 h)); real_ring R.
have high j : expR (m' j) <= expR (t * M) * expR (m j).
  have := aM j; rewrite ler_norml => /andP[_ h]; rewrite -expRD ler_expR /m'.
  by apply: (@le_by1 _ _ _ _ _ (ler_wpmul2l t0 h)); real_ring R.
have masslow : expR (- (t * M)) * mass m <= mass m' by rewrite mulr_sumr; apply: ler_sum.
have masshigh : mass m' <= expR (t * M) * mass m by rewrite mulr_sumr; apply: ler_sum.
have pos := mass_gt0 m k; have pos' := mass_gt0 m' k; have e j := ltW (expR_gt0 j : 0 < expR j :> R).
have key : expR (2 * (t * M)) * expR (- (t * M)) = expR (t * M) by rewrite -expRD; congr expR; real_ring R.
have key' : expR (- (2 * (t * M))) * expR (t * M) = expR (- (t * M)) by rewrite -expRD; congr expR; real_ring R.
split; rewrite /chance mulrA ler_pdivr_mulr // mulrAC ler_pdivl_mulr //.
  apply: le_trans (ler_wpmul2r (ltW pos) (high k)) _.
  apply: le_trans (ler_wpmul2l (mulr_ge0 (e (2 * (t * M))) (e (m k))) masslow); rewrite -key.
  move: (expR (2 * _)) (expR (- _)) (expR (m k)) (mass m) => A D E N.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; real_ring R.
apply: le_trans (ler_wpmul2l (mulr_ge0 (e (- (2 * (t * M)))) (e (m k))) masshigh) _.
apply: le_trans (ler_wpmul2r (ltW pos) (low k)); rewrite -key'.
move: (expR (- _)) (expR (t * M)) (expR (m k)) (mass m) => A D E N.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; real_ring R.
Qed.

Lemma chances_near m a (e : R) : 0 < e -> exists2 t0, 0 < t0 &
  forall t, 0 < t <= t0 -> \sum_k (chance (fun j => m j + t * a j) k - chance m k) * a k <= e.
Proof.
move=> e0; pose M := \sum_k `|a k| + 1; have sum0 : 0 <= \sum_k `|a k| by apply: sumr_ge0.
have M0 : 0 < M by rewrite ltr_paddl // ltr01.
have aM j : `|a j| <= M.
  by rewrite /M (bigD1 j) //= -addrA ler_addl addr_ge0 ?ler01 //; apply: sumr_ge0.
pose F : R := (2 * 2) * M; have F0 : 0 < F by rewrite mulr_gt0 // mulr_gt0 ?ltr0n.
exists (Num.min F^-1 (e / (F * M))) => [|t /andP[tpos]]; first by rewrite lt_minr invr_gt0 F0 divr_gt0 // mulr_gt0.
rewrite le_minr => /andP[t1 t2]; pose z := 2 * (t * M).
have z0 : 0 <= z by rewrite !mulr_ge0 ?ler0n // ltW.
have z1 : z <= 2^-1.
  have := ler_wpmul2r (ltW F0) t1; rewrite mulVf ?gt_eqF // => h.
  have half : 0 <= 2^-1 :> R by rewrite invr_ge0 ler0n.
  by apply: (@le_by1 _ _ _ _ _ (ler_wpmul2l half h)); rewrite /z /F; real_fields R.
have small := expR_small z0 z1.
have gap0 : 0 <= expR z - 1 by rewrite subr_ge0 -(expR0 R) ler_expR.
apply: (@le_trans _ _ (\sum_k (expR z - 1) * `|a k|)).
  apply: ler_sum => k _; apply: (le_trans (ler_norm _)); rewrite normrM ler_wpmul2r //.
  have [up down] := chance_near m k (ltW tpos) aM; rewrite -/z in up down.
  move: (chance (fun j => m j + t * a j) k) up down => q up down.
  have c0 := ltW (chance_gt0 m k).
  have c1 : chance m k <= 1.
    by rewrite -(chance_sum m k) (bigD1 k) //= ler_addl; apply: sumr_ge0 => j _; exact: ltW (chance_gt0 m j).
  have top := ler_wpmul2l gap0 c1.
  have both : 2 <= expR z + expR (- z).
    by apply: (@le_by2 _ _ _ _ _ _ _ (expR_tangent0 z) (expR_tangent0 (- z))); real_ring R.
  rewrite ler_norml; apply/andP; split; last by apply: (@le_by2 _ _ _ _ _ _ _ up top); real_ring R.
  apply: (@le_by2 _ _ _ _ _ _ _ (ler_add down top) (ler_wpmul2r c0 both)); real_ring R.
rewrite -mulr_sumr; apply: (@le_trans _ _ (2 * z * M)).
  by apply: ler_pmul => //; rewrite /M ler_addl ler01.
have := t2; rewrite ler_pdivl_mulr ?mulr_gt0 // => h.
by apply: (@le_by1 _ _ _ _ _ h); rewrite /z /F; real_ring R.
Qed.

(* Rows of norm at most B with any label. *)
Variables (Z : Type) (feature : Z -> V) (label : Z -> 'I_c) (B mu : R).
Local Notation W := [lmodType R of {ffun 'I_c -> V}].
Local Notation norm := (norm ip).
Local Notation stacked := (stacked ip c).
Variables (penalty : W -> R) (C : W -> Prop).
Hypotheses (B0 : 0 <= B) (featureB : forall z, norm (feature z) <= B).
Hypotheses (convexC : convex_set C) (convexr : strongly_convex stacked mu C penalty).
Implicit Types (w h : W) (z : Z).

Definition predictions z w k : R := dot ip (w k) (feature z).
Definition multinomial_loss z w : R := log_loss (label z) (predictions z w).
Definition multinomial_gradient z w : W := [ffun k => log_slope (label z) (predictions z w) k *: feature z].

Lemma gradient_dot z w h : dot stacked (multinomial_gradient z w) h =
  \sum_k log_slope (label z) (predictions z w) k * predictions z h k.
Proof. by apply: eq_bigr => k _; rewrite ffunE dotZl dotC. Qed.

Lemma multinomial_below z w : subgradient stacked (fun=> True) (multinomial_loss z) w (multinomial_gradient z w).
Proof.
split=> // v _; rewrite gradient_dot; apply: le_trans (log_loss_below (label z) (predictions z w) (predictions z v)).
rewrite /multinomial_loss ler_add2l le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => k _; congr (_ * _).
by rewrite /predictions !ffunE dotBl.
Qed.

Lemma multinomial_size z w r : InnerProduct.norm stacked w <= r ->
  InnerProduct.norm stacked (multinomial_gradient z w) <= B * (Num.sqrt 2 * slope_factor (Num.sqrt 2 * (B * r))).
Proof.
move=> wr; set y := label z; set m := predictions z w.
have r0 : 0 <= r by exact: le_trans (norm_ge0 _ _) wr.
have two : 0 <= 2 :> R by rewrite ler0n.
have s0 := sqrtr_ge0 (2 : R).
have ahead k : m k - m y <= Num.sqrt 2 * (B * r).
  have [->|ky] := eqVneq k y; first by rewrite subrr !mulr_ge0.
  rewrite /m /predictions -dotBl; apply: le_trans (dot_norm ip _ _) _.
  rewrite [B * r]mulrC mulrA; apply: ler_pmul; rewrite ?norm_ge0 //.
  rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?norm_ge0 ?mulr_ge0 // exprMn [Num.sqrt 2 ^+ 2]sqr_sqrtr //.
  have parts := norm_two_parts ip w ky.
  have ww : InnerProduct.norm stacked w ^+ 2 <= r ^+ 2 by rewrite ler_pexpn2r ?nnegrE ?norm_ge0.
  have square := sqr_ge0 (norm (w k + w y)); rewrite sqr_norm !(dotDl, dotDr) (dotC ip (w y) (w k)) in square.
  have h1 := ler_wpmul2l two (le_trans parts ww).
  apply: (@le_by2 _ _ _ _ _ _ _ h1 square); rewrite !sqr_norm !(dotBl, dotBr) (dotC ip (w y) (w k)); real_ring R.
have low := chance_low ahead; have rest0 : 0 <= 1 - chance m y.
  by rewrite -chance_rest; apply: sumr_ge0 => k _; exact: ltW (chance_gt0 m k).
have f0 := le_trans rest0 low.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?norm_ge0 ?mulr_ge0 //.
rewrite sqr_norm /= /stacked_dot (eq_bigr (fun k => log_slope y m k ^+ 2 * norm (feature z) ^+ 2)); last first.
  by move=> k _; rewrite ffunE dotZl dotZr sqr_norm mulrA expr2.
rewrite -mulr_suml mulrC exprMn; apply: ler_pmul; rewrite ?sqr_ge0 ?ler_pexpn2r ?nnegrE ?norm_ge0 //.
  by apply: sumr_ge0 => k _; exact: sqr_ge0.
rewrite exprMn sqr_sqrtr //; apply: le_trans (log_slope_square y m) _.
by rewrite ler_wpmul2l // ler_pexpn2r.
Qed.

Theorem A2_multinomial r : rows_as_in_A2 stacked multinomial_loss (fun z w s => s = multinomial_gradient z w) penalty C
  (fun w => InnerProduct.norm stacked w <= r) (2 * (B * (Num.sqrt 2 * slope_factor (Num.sqrt 2 * (B * r))))) mu.
Proof.
split=> //.
- move=> z v w t _ _ /andP[t0 t1]; set x := between v w t; have s0 : 0 <= 1 - t by rewrite subr_ge0.
  have [_ below] := multinomial_below z x.
  have hv := ler_wpmul2l s0 (below v I); have hw := ler_wpmul2l t0 (below w I).
  apply: (@le_by2 _ _ _ _ _ _ _ hv hw).
  have -> : v - x = (- t) *: (w - v) by rewrite /x /between opprD addrA subrr sub0r scaleNr.
  have -> : w - x = (1 - t) *: (w - v) by rewrite /x /between opprD addrA scalerBl scale1r.
  by rewrite !dotZr; real_fields R.
- move=> z; apply: continuous_slopes; first exact: multinomial_below.
  move=> w h e e0; have [t0 t00 small] := chances_near (predictions z w) (predictions z h) e0.
  exists t0 => // t tt0; apply: le_trans (small t tt0).
  rewrite dotBl !gradient_dot -sumrB le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => k _.
  rewrite -mulrBl; congr (_ * _); rewrite /log_slope opprB addrA subrK; congr (_ - _).
  by congr (chance _ k); apply/funext => j; rewrite /predictions !ffunE dotDl dotZl.
- move=> w z z' s s' wr -> ->; apply: (le_trans (norm_triangle _ _ _)); rewrite normN mulr_natl mulr2n.
  by apply: ler_add; exact: multinomial_size.
Qed.

Theorem A2_multinomial_radius (u : R) n (S : 'I_n -> Z) w : 0 <= u -> (c.-1)%:R <= u * expR (1 + u) ->
  (0 < n)%N -> 0 < mu -> minimiser C penalty 0 -> minimiser C (objective multinomial_loss penalty S) w ->
  InnerProduct.norm stacked w <= Num.sqrt (u / mu).
Proof.
move=> u0 top n0 mu0 min0 min; have [_ _ _ slope _] := A2_multinomial 0.
have square : mu * InnerProduct.norm stacked w ^+ 2 <= u.
  apply: (lemma_R n0 convexC convexr min0 slope _ min) => z _ ->; rewrite gradient_dot; exact: log_pull.
rewrite -[InnerProduct.norm stacked w]ger0_norm ?norm_ge0 // -sqrtr_sqr; apply: ler_wsqrtr.
by rewrite ler_pdivl_mulr // mulrC.
Qed.

End multinomial.
