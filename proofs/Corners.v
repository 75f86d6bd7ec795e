(* Page C1: how far one row moves a run of subgradient steps on convex losses with kinks. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Gradients Descents.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section growth.
Variable R : realType.
Add Field reals : (real_field R).

(* f and H of the page for one step: q = 1 - eta mu, c = a^2 eta^2, h = 2 L eta, g = Gam eta/b. *)
Variables (q c h g : R) (b : nat).

Definition common_growth (D : R) := Num.sqrt (q ^+ 2 * D ^+ 2 + c).

Definition hit_growth (D : R) :=
  Num.min ((1 - b%:R^-1) * common_growth D + b%:R^-1 * (q * D + h)) (common_growth D + g).

Hypotheses (q0 : 0 <= q) (q1 : q <= 1) (c0 : 0 <= c) (h0 : 0 <= h) (g0 : 0 <= g) (b0 : (0 < b)%N).
Hypothesis (hc : c <= h ^+ 2).
Local Notation f := common_growth.
Local Notation H := hit_growth.

Lemma common_ge0 D : 0 <= f D. Proof. exact: sqrtr_ge0. Qed.

Lemma sqr_common D : f D ^+ 2 = q ^+ 2 * D ^+ 2 + c.
Proof. by rewrite sqr_sqrtr // addr_ge0 // mulr_ge0 ?sqr_ge0. Qed.

(* Part 2: j common steps at once. *)
Theorem C1_common_steps j D : 0 <= D ->
  iter j f D = Num.sqrt (q ^+ (2 * j) * D ^+ 2 + c * \sum_(i < j) q ^+ (2 * i)).
Proof.
move=> D0; have pos i : 0 <= q ^+ (2 * i) by rewrite exprn_ge0.
elim: j => [|j IH]; first by rewrite muln0 expr0 mul1r big_ord0 mulr0 addr0 sqrtr_sqr ger0_norm.
rewrite iterS IH /common_growth sqr_sqrtr; last by rewrite addr_ge0 // mulr_ge0 ?sqr_ge0 // sumr_ge0.
congr Num.sqrt; rewrite big_ord_recl muln0 expr0 mulrDr [c * (1 + _)]mulrDr mulr1 mulrA -exprD -mulnS -addrA.
congr (_ + _); rewrite addrC; congr (_ + _); rewrite mulrCA; congr (_ * _); rewrite mulr_sumr.
by apply: eq_bigr => i _; rewrite -exprD -mulnS.
Qed.

Lemma common_le D D' : 0 <= D -> D <= D' -> f D <= f D'.
Proof.
move=> D0 le; apply: ler_wsqrtr; rewrite ler_add2r ler_wpmul2l ?sqr_ge0 //.
by rewrite ler_pexpn2r ?nnegrE // (le_trans D0).
Qed.

Lemma common_above D : 0 <= D -> q * D <= f D.
Proof.
move=> D0; rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0 ?common_ge0 //.
by rewrite sqr_common exprMn ler_addl.
Qed.

Lemma common_below D x : 0 <= x -> q ^+ 2 * D ^+ 2 + c <= x ^+ 2 -> f D <= x.
Proof. by move=> x0 le; rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?common_ge0 // sqr_common. Qed.

Let share0 : 0 <= b%:R^-1 :> R. Proof. by rewrite invr_ge0 ler0n. Qed.
Let share1 : 0 <= 1 - b%:R^-1 :> R.
Proof. by rewrite subr_ge0 invf_le1 ?ltr0n // ler1n. Qed.

Lemma hit_le D D' : 0 <= D -> D <= D' -> H D <= H D'.
Proof.
move=> D0 le; have fle := common_le D0 le.
rewrite /hit_growth le_minr; apply/andP; split; rewrite le_minl; apply/orP; [left|right].
  by apply: ler_add; rewrite ler_wpmul2l // ler_add2r ler_wpmul2l.
by rewrite ler_add2r.
Qed.

(* A hit does no less than a common step. *)
Lemma hit_above D : 0 <= D -> f D <= H D.
Proof.
move=> D0; rewrite /hit_growth le_minr ler_addl g0 andbT.
have qD : 0 <= q * D by exact: mulr_ge0.
have le : f D <= q * D + h.
  apply: common_below; first exact: addr_ge0.
  have qDh : 0 <= 2 * (q * D) * h by rewrite mulr_ge0 // mulr_ge0 // ler0n.
  by apply: (@le_by2 _ _ _ _ _ _ _ hc qDh); real_ring R.
have {}le := ler_wpmul2l share0 le; apply: (@le_by1 _ _ _ _ _ le).
by set s := b%:R^-1; real_ring R.
Qed.

Lemma hit_ge0 D : 0 <= D -> 0 <= H D.
Proof. by move=> D0; exact: le_trans (common_ge0 D) (hit_above D0). Qed.

(* f is convex, in the one case that is needed. *)
Lemma common_mean x y : 0 <= x -> 0 <= y ->
  f ((1 - b%:R^-1) * x + b%:R^-1 * y) <= (1 - b%:R^-1) * f x + b%:R^-1 * f y.
Proof.
move=> x0 y0; move: share0 share1; set s := b%:R^-1 => s0 s1.
apply: common_below; first by rewrite addr_ge0 // mulr_ge0 // common_ge0.
(* (q x, sqrt c) and (q y, sqrt c): Cauchy and Schwarz *)
have cross : q ^+ 2 * (x * y) + c <= f x * f y.
  rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0 ?common_ge0 //; last first.
    by rewrite addr_ge0 // mulr_ge0 ?sqr_ge0 // mulr_ge0.
  rewrite [X in _ <= X]exprMn !sqr_common.
  have gap : 0 <= c * q ^+ 2 * (x - y) ^+ 2 by rewrite mulr_ge0 ?sqr_ge0 // mulr_ge0 ?sqr_ge0.
  by apply: (@le_by1 _ _ _ _ _ gap); real_ring R.
have weight : 0 <= 2 * ((1 - s) * s) by rewrite mulr_ge0 ?ler0n // mulr_ge0.
have room := ler_wpmul2l weight cross.
have -> : ((1 - s) * f x + s * f y) ^+ 2 =
    (1 - s) ^+ 2 * f x ^+ 2 + s ^+ 2 * f y ^+ 2 + 2 * ((1 - s) * s) * (f x * f y) by real_ring R.
by rewrite !sqr_common; apply: (@le_by1 _ _ _ _ _ room); real_ring R.
Qed.

(* The order lemma: a hit does most harm after the common steps. *)
Theorem C1_order D : 0 <= D -> f (H D) <= H (f D).
Proof.
move=> D0; have fD := common_ge0 D; have qD : 0 <= q * D by exact: mulr_ge0.
have H0 := hit_ge0 D0.
have first : f (q * D + h) <= q * f D + h.
  apply: common_below; first by rewrite addr_ge0 // mulr_ge0.
  have qD' : 0 <= f D - q ^+ 2 * D.
    rewrite subr_ge0; apply: le_trans (common_above D0); rewrite expr2 -mulrA ler_pimull //.
  have p1 : 0 <= 2 * q * h * (f D - q ^+ 2 * D) by rewrite mulr_ge0 // mulr_ge0 // mulr_ge0 // ler0n.
  have p2 : 0 <= (1 - q ^+ 2) * (h ^+ 2 - c).
    by rewrite mulr_ge0 // subr_ge0 // exprn_ile1.
  have sq := sqr_common D.
  have -> : (q * f D + h) ^+ 2 = q ^+ 2 * f D ^+ 2 + 2 * q * h * f D + h ^+ 2 by real_ring R.
  by rewrite sq; apply: (@le_by2 _ _ _ _ _ _ _ p1 p2); real_ring R.
rewrite [H (f D)]/hit_growth le_minr; apply/andP; split.
  apply: (@le_trans _ _ (f ((1 - b%:R^-1) * f D + b%:R^-1 * (q * D + h)))).
    by apply: common_le => //; rewrite le_minl lexx.
  apply: (le_trans (common_mean fD _)); first exact: addr_ge0.
  by rewrite ler_add2l ler_wpmul2l.
apply: (@le_trans _ _ (f (f D + g))); first by apply: common_le => //; rewrite le_minl lexx orbT.
apply: common_below; first by rewrite addr_ge0 ?common_ge0.
have slack : 0 <= 2 * g * (f (f D) - q ^+ 2 * f D) + (1 - q ^+ 2) * g ^+ 2.
  have qq : q ^+ 2 <= 1 by rewrite exprn_ile1.
  rewrite addr_ge0 ?mulr_ge0 ?sqr_ge0 ?ler0n ?subr_ge0 //.
  by apply: le_trans (common_above fD); rewrite expr2 -mulrA ler_pimull // mulr_ge0.
have -> : (f (f D) + g) ^+ 2 = f (f D) ^+ 2 + 2 * g * f (f D) + g ^+ 2 by real_ring R.
by rewrite [f (f D) ^+ 2]sqr_common; apply: (@le_by1 _ _ _ _ _ slack); real_ring R.
Qed.

End growth.

(* The page's bound, step by step: hits are the steps whose batch holds the row. *)
Section movement.
Variables (R : realType) (f H : nat -> R -> R) (g : nat -> R) (hit : nat -> bool).

Fixpoint met T := if T is t.+1 then hit t || met t else false.

Fixpoint movement T := if T is t.+1 then
  (if met t then (if hit t then H t (movement t) else f t (movement t)) else if hit t then g t else 0) else 0.

End movement.

(* Parts 3 and 5: passes of m steps with at most one hit each, and maps f, H and a number g for every pass, which bound what
   its steps do. *)
Section passes_of_steps.
Variables (R : realType) (f H : nat -> R -> R) (g : nat -> R) (m : nat) (hit : nat -> bool) (moved : nat -> R).
Hypotheses (f_le : forall e x y, 0 <= x -> x <= y -> f e x <= f e y) (f0 : forall e x, 0 <= f e x).
Hypotheses (H_le : forall e x y, 0 <= x -> x <= y -> H e x <= H e y) (fH : forall e x, 0 <= x -> f e x <= H e x).
Hypotheses (g0 : forall e, 0 <= g e).
Hypotheses (moved0 : forall t, 0 <= moved t) (unmet : forall t, ~~ met hit t -> moved t = 0).
Hypothesis (first_hit : forall t, ~~ met hit t -> hit t -> moved t.+1 <= g (t %/ m)%N).
Hypothesis (moved_step : forall t, moved t.+1 <= (if hit t then H (t %/ m)%N (moved t) else f (t %/ m)%N (moved t))).
Implicit Types (x y : R).

Let H0 e x : 0 <= x -> 0 <= H e x. Proof. by move=> x0; exact: le_trans (f0 e x) (fH e x0). Qed.

Let iter0 e j x : 0 <= x -> 0 <= iter j (f e) x.
Proof. by case: j => //= j _; exact: f0. Qed.

(* The orbit of an increasing map is monotone, so that it is largest at an end. *)
Lemma orbit e x j l : 0 <= x -> (j <= l)%N -> iter j (f e) x <= Num.max x (iter l (f e) x).
Proof.
move=> x0 jl; have [up|/ltW down] := lerP x (f e x); rewrite le_maxr; apply/orP; [right|left].
  have grows i : iter i (f e) x <= iter i.+1 (f e) x by elim: i => //= i IH; apply: f_le => //; exact: iter0.
  by rewrite -(subnK jl); elim: (l - j)%N => // i IH; rewrite addSn (le_trans IH).
by elim: j {jl} => //= j IH; apply: le_trans down; apply: f_le => //; exact: iter0.
Qed.

Section fresh_orders.
Hypothesis (order : forall e x, 0 <= x -> f e (H e x) <= H e (f e x)).
Hypothesis (once : forall t t', (t %/ m = t' %/ m)%N -> hit t -> hit t' -> t = t').

(* A pass from y on, after s of its steps. *)
Let pass_from e y s : 0 <= y -> moved (e * m) <= y -> (0 < s <= m)%N -> moved (e * m + s) <= H e (iter s.-1 (f e) y).
Proof.
move=> y0 start /andP[s0 sm].
suff : (forall t, (e * m <= t < e * m + s)%N -> ~~ hit t) /\ moved (e * m + s) <= iter s (f e) y \/
    moved (e * m + s) <= H e (iter s.-1 (f e) y) /\ exists2 t, (e * m <= t < e * m + s)%N & hit t.
  case: s s0 sm => // s _ _ [[_ le]|[] //]; apply: (le_trans le); exact: fH _ (iter0 _ _ y0).
elim: s s0 sm => // s IH _ sm.
have block t : (e * m <= t < e * m + s.+1)%N -> (t %/ m = e)%N.
  move=> /andP[lo hi]; have m0 : (0 < m)%N by exact: leq_ltn_trans sm.
  apply/eqP; rewrite eqn_leq -ltnS ltn_divLR // leq_divRL // lo mulSn addnC andbT.
  by rewrite (leq_trans hi) // leq_add2l.
have last : (e * m <= e * m + s < e * m + s.+1)%N by rewrite leq_addr addnS ltnSn.
have wider t : (e * m <= t < e * m + s)%N -> (e * m <= t < e * m + s.+1)%N.
  by move=> /andP[-> lt]; rewrite addnS (ltn_trans lt).
have next := moved_step (e * m + s); rewrite -addnS (block _ last) in next.
have [s0|s1] := posnP s.
  rewrite s0 addn0 in next last *; case: ifP next => hitt next.
    by right; split; [apply: (le_trans next); exact: H_le|exists (e * m)%N].
  left; split; last by apply: (le_trans next); exact: f_le.
  move=> t /andP[lo]; rewrite addn1 ltnS => hi.
  by have -> : t = (e * m)%N; [apply/eqP; rewrite eqn_leq hi|rewrite hitt].
have [[none le]|[le [t tin hitt]]] := IH s1 (ltnW sm).
  case: ifP next => hits next.
    by right; split; [apply: (le_trans next); exact: H_le|exists (e * m + s)%N].
  left; split; last by apply: (le_trans next); exact: f_le.
  move=> t /andP[lo]; rewrite addnS ltnS leq_eqVlt => /predU1P[->|hi]; first by rewrite hits.
  by apply: none; rewrite lo.
right; split; last by exists t => //; exact: wider.
case: ifP next => hits next.
  have same : t = (e * m + s)%N by apply: once => //; rewrite (block t (wider t tin)) (block _ last).
  by move: tin; rewrite same ltnn andbF.
apply: (le_trans next); apply: (le_trans (f_le _ (moved0 _) le)); case: s s1 {IH sm last wider next le tin block hits} => // s _.
exact: order _ (iter0 _ _ y0).
Qed.

(* The first pass: nothing before the hit, then g and common steps. *)
Definition first_pass s := Num.max (g 0%N) (iter s.-1 (f 0) (g 0%N)).

Let first_pass_bound s : (0 < s <= m)%N -> moved s <= first_pass s.
Proof.
move=> /andP[s0 sm].
suff : ~~ met hit s \/ (exists2 t, (t < s)%N & hit t) /\ exists2 j, (j < s)%N & moved s <= iter j (f 0) (g 0%N).
  move=> [nothing|[_ [j js le]]]; first by rewrite unmet // le_maxr g0.
  by apply: (le_trans le); apply: orbit => //; rewrite -ltnS prednK.
elim: s {s0} sm => [_|s IH sm]; first by left.
have now : (s %/ m = 0)%N by rewrite divn_small.
have [nothing|[[t ts hitt] [j js le]]] := IH (ltnW sm).
  have [hits|miss] := boolP (hit s); last by left; rewrite /= negb_or miss.
  by right; split; [exists s|exists 0%N => //=; rewrite -now first_hit].
right; split; first by exists t => //; exact: ltnW.
have miss : hit s = false.
  apply/negP => hits; have same : t = s by apply: once => //; rewrite !divn_small // (ltn_trans ts).
  by move: ts; rewrite same ltnn.
exists j.+1; rewrite ?ltnS //; have next := moved_step s; rewrite miss now in next.
by apply: (le_trans next); exact: f_le.
Qed.

(* After e + 1 whole passes; after k whole passes and r steps. *)
Fixpoint after_passes e :=
  if e is e'.+1 then H e (iter m.-1 (f e) (after_passes e')) else first_pass m.

Definition fresh_orders k r := if k is e.+1 then H k (iter r.-1 (f k) (after_passes e)) else first_pass r.

Lemma fresh_orders_bound k r : (0 < r <= m)%N -> moved (k * m + r) <= fresh_orders k r.
Proof.
move=> rm; case: k => [|k]; first exact: first_pass_bound.
have m0 : (0 < m <= m)%N by case/andP: rm => r0 rm; rewrite (leq_trans r0 rm) leqnn.
have start0 : 0 <= first_pass m by rewrite le_maxr g0.
have whole e : 0 <= after_passes e /\ moved (e.+1 * m) <= after_passes e.
  elim: e => [|e [pos IH]]; first by rewrite mul1n; split => //; exact: first_pass_bound.
  split; first exact: H0 _ (iter0 _ _ pos).
  by rewrite mulSn addnC; exact: pass_from.
by have [pos le] := whole k; exact: pass_from.
Qed.

End fresh_orders.

(* One order for all passes, and maps that get no larger: the hit is at one place p of every pass, or nowhere. *)
Section one_order.
Hypothesis (falls : forall e x, 0 <= x -> f e.+1 x <= f e x).
Variable p : nat.
Hypotheses (pm : (p < m)%N) (place : forall t, hit t = (t %% m == p)%N).

(* Right after the hit of pass e. *)
Fixpoint after_hit e := if e is e'.+1 then H e (iter m.-1 (f e') (after_hit e')) else g 0%N.

Let after_hit0 e : 0 <= after_hit e.
Proof. by elim: e => [|e IH] //=; exact: H0 _ (iter0 _ _ IH). Qed.

Let m0 : (0 < m)%N. Proof. exact: leq_ltn_trans pm. Qed.

(* Between two hits: no hit, in the same pass or the next. *)
Let between e j : (j.+1 < m)%N -> (hit (e * m + p + 1 + j) = false) /\
  ((e * m + p + 1 + j) %/ m = e \/ (e * m + p + 1 + j) %/ m = e.+1)%N.
Proof.
move=> lt; have -> : (e * m + p + 1 + j = e * m + (p + j.+1))%N by rewrite -!addnA add1n.
rewrite place modnMDl divnMDl //; split.
  by apply/negbTE; rewrite -{2}(modn_small pm) -{2}[p]addn0 eqn_modDl mod0n modn_small.
have : ((p + j.+1) %/ m < 2)%N by rewrite ltn_divLR // mul2n -addnn -addSn leq_add // ltnW.
by case: (_ %/ m)%N => [|[|]] // _; rewrite ?addn0 ?addn1; [left|right].
Qed.

Let since e j : (j < m)%N -> moved (e * m + p + 1 + j) <= iter j (f e) (after_hit e).
Proof.
have next e' j' : (j'.+1 < m)%N -> moved (e' * m + p + 1 + j') <= iter j' (f e') (after_hit e') ->
    moved (e' * m + p + 1 + j'.+1) <= iter j'.+1 (f e') (after_hit e').
  move=> lt early; have [miss pass] := between e' lt; rewrite addnS.
  apply: (le_trans (moved_step _)); rewrite miss; apply: (@le_trans _ _ (f e' (moved (e' * m + p + 1 + j')))).
    by case: pass => -> //; exact: falls.
  exact: f_le.
elim: e j => [|e IHe]; elim=> [_|j IHj lt]; try by apply: next => //; exact/IHj/ltnW.
  rewrite mul0n add0n addn0 addn1 /=; have -> : g 0%N = g (p %/ m)%N by rewrite divn_small.
  apply: first_hit; last by rewrite place modn_small.
  have : forall t, (t <= p)%N -> ~~ met hit t; last by apply.
  elim=> //= t IH tp; rewrite negb_or IH ?(ltnW tp) // place modn_small ?(ltn_trans tp) // andbT.
  by rewrite neq_ltn tp.
rewrite addn0 addn1; apply: (le_trans (moved_step _)); rewrite place modnMDl modn_small // eqxx divnMDl // divn_small // addn0.
apply: H_le => //; have := IHe m.-1; rewrite prednK // => /(_ (leqnn _)).
by have -> : (e * m + p + 1 + m.-1 = e.+1 * m + p)%N by rewrite mulSnr -!addnA [(m + p)%N]addnC [(1 + _)%N]add1n prednK.
Qed.

Definition one_order_bound k r :=
  Num.max (Num.max (after_hit k) (iter r.-1 (f k) (after_hit k)))
    (if (0 < k)%N && (r < m)%N
     then Num.max (iter r (f k.-1) (after_hit k.-1)) (iter m.-1 (f k.-1) (after_hit k.-1)) else 0).

Lemma one_order_bounds k r : (0 < r <= m)%N -> moved (k * m + r) <= one_order_bound k r.
Proof.
move=> /andP[r0 rm]; rewrite /one_order_bound le_maxr; have [pr|rp] := ltnP p r.
  have -> : (k * m + r = k * m + p + 1 + (r - p.+1))%N by rewrite -!addnA add1n addnS -addSn subnKC.
  apply/orP; left; apply: le_trans (since _ _) _; first by apply: leq_trans rm; rewrite ltn_subrL r0.
  by apply: orbit => //; rewrite -subn1 leq_sub2l.
apply/orP; right; case: k => [|k].
  rewrite mul0n add0n /= unmet //; elim: r {r0 rm} rp => //= t IH tp; rewrite negb_or IH ?(ltnW tp) // place.
  by rewrite modn_small ?(ltn_trans tp) // neq_ltn tp.
have rm' : (r < m)%N by exact: leq_ltn_trans rp pm.
have -> : (k.+1 * m + r = k * m + p + 1 + (m + r - p.+1))%N.
  by rewrite mulSnr -!addnA add1n addnS -addSn subnKC // (leq_trans pm) // leq_addr.
rewrite /= rm'; apply: le_trans (since _ _) _.
  by rewrite ltn_subLR ?(leq_trans pm) ?leq_addr // addnC ltn_add2r.
have big : (r <= m + r - p.+1)%N by rewrite leq_subRL ?(leq_trans pm) ?leq_addr // leq_add2r.
rewrite -{1}(subnK big) iterD; apply: le_trans (orbit _ (iter0 _ _ (after_hit0 _)) (_ : (_ <= m.-1 - r)%N)) _.
  by apply: leq_sub2r; rewrite leq_subLR addSn -addnS prednK // addnC leq_add2r.
by rewrite -iterD subnK // -ltnS prednK.
Qed.

End one_order.

End passes_of_steps.

Section corners.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Local Notation norm := (norm ip).
Local Notation "<< x , y >>" := (dot ip x y) (at level 0, x at level 99, y at level 99).
Add Field reals : (real_field R).

(* A common step: the gradients differ by d, which does not point against u. *)
Lemma corner_step (q eta a : R) u d : 0 <= q -> 0 <= eta -> 0 <= a -> 0 <= << d, u >> -> norm d <= a ->
  norm (q *: u - eta *: d) <= common_growth q (a ^+ 2 * eta ^+ 2) (norm u).
Proof.
move=> q0 eta0 a0 monotone da.
have c0 : 0 <= a ^+ 2 * eta ^+ 2 by rewrite mulr_ge0 ?sqr_ge0.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?norm_ge0 ?common_ge0 // sqr_common //.
rewrite !sqr_norm !(dotBl, dotBr, dotZl, dotZr) (dotC ip u d) -!sqr_norm.
have dd : eta ^+ 2 * norm d ^+ 2 <= eta ^+ 2 * a ^+ 2.
  by rewrite ler_wpmul2l ?sqr_ge0 // ler_pexpn2r ?nnegrE ?norm_ge0.
have angle : 0 <= 2 * (q * eta) * << d, u >> by rewrite mulr_ge0 // mulr_ge0 ?ler0n // mulr_ge0.
by apply: (@le_by2 _ _ _ _ _ _ _ dd angle); real_ring R.
Qed.

Variables (Z : Type) (loss : Z -> V -> R) (g : Z -> V -> V) (mu : R).
Variables (n b : nat) (batch : nat -> seq 'I_n) (eta : nat -> R) (after : nat -> V -> V) (start : V).
Implicit Types (S : 'I_n -> Z) (t T m k : nat).
Local Notation run := (run (fun=> g) mu b batch eta after start).
Local Notation batch_gradient := (batch_gradient (fun=> g) b batch).

Variables (L a Gam : R) (visited : V -> Prop).
Hypotheses (mu0 : 0 <= mu) (b0 : (0 < b)%N) (eta0 : forall t, 0 <= eta t) (etamu : forall t, eta t * mu <= 1).
Hypothesis (subgradients : forall z w, subgradient ip (fun=> True) (loss z) w (g z w)).
Hypothesis (batches : forall t, uniq (batch t) /\ (size (batch t) <= b)%N).
Hypothesis (nonexpansive : forall t x y, norm (after t x - after t y) <= norm (x - y)).
Hypothesis (visits : forall S t, visited (run S t)).
Hypothesis (bounded : forall z w, visited w -> norm (g z w) <= L).
Hypotheses (a0 : 0 <= a) (spread : forall z w v, visited w -> visited v -> norm (g z w - g z v) <= a).
Hypothesis (diameter : forall z z' w, visited w -> norm (g z w - g z' w) <= Gam).

Let q t := 1 - eta t * mu.
Let q0 t : 0 <= q t. Proof. by rewrite subr_ge0. Qed.
Definition common t := common_growth (q t) (a ^+ 2 * eta t ^+ 2).
Definition hits t := hit_growth (q t) (a ^+ 2 * eta t ^+ 2) (2 * L * eta t) (Gam * eta t / b%:R) b.
Definition first t := Gam * eta t / b%:R.

Let inv0 : 0 <= b%:R^-1 :> R. Proof. by rewrite invr_ge0 ler0n. Qed.

Let monotone z w v : 0 <= << g z w - g z v, w - v >>.
Proof.
have [_ /(_ v I) h] := subgradients z w; have [_ /(_ w I) h'] := subgradients z v.
rewrite !dotBr in h h'; rewrite dotBl !dotBr.
by apply: (@le_by2 _ _ _ _ _ _ _ h h'); real_ring R.
Qed.

Let step_difference eta' (G G' : V -> V) w v :
  descent_step mu eta' G w - descent_step mu eta' G' v = (1 - eta' * mu) *: (w - v) - eta' *: (G w - G' v).
Proof.
rewrite /descent_step opprD addrACA -opprD -scalerBr opprD addrACA -scalerBr.
by rewrite scalerDr scalerA opprD scalerBl scale1r addrA addrAC.
Qed.

(* A batch of one table at two points. *)
Lemma common_step S t w v : visited w -> visited v ->
  norm (descent_step mu (eta t) (batch_gradient S t) w - descent_step mu (eta t) (batch_gradient S t) v)
    <= common t (norm (w - v)).
Proof.
move=> Dw Dv; rewrite step_difference; apply: (corner_step (q0 t)) => //.
  rewrite /Descents.batch_gradient -scalerBr -sumrB dotZl dot_suml mulr_ge0 // sumr_ge0 // => i _; exact: monotone.
rewrite /Descents.batch_gradient -scalerBr -sumrB normZ ger0_norm // ler_pdivr_mull ?ltr0n //.
apply: (le_trans (norm_sum _ _ _ _)).
apply: (@le_trans _ _ (\sum_(i <- batch t) a)); first by apply: ler_sum => i _; exact: spread.
rewrite big_const_seq count_predT iter_addr_0 -[a *+ _]mulr_natl ler_wpmul2r // ler_nat.
by case: (batches t).
Qed.

(* The two tables' batches at one point. *)
Lemma same_point S S' i t v : (forall j, j != i -> S j = S' j) -> i \in batch t -> visited v ->
  norm (descent_step mu (eta t) (batch_gradient S t) v - descent_step mu (eta t) (batch_gradient S' t) v) <= first t.
Proof.
move=> same it Dv; have [unique _] := batches t.
rewrite step_difference subrr scaler0 add0r normN normZ ger0_norm //.
rewrite /Descents.batch_gradient -scalerBr -sumrB normZ ger0_norm //.
rewrite (bigD1_seq i) //= big1 => [|j /same ->]; last by rewrite subrr.
rewrite addr0 /first [Gam * _]mulrC -mulrA [Gam * _]mulrC !ler_wpmul2l //; exact: diameter.
Qed.

Lemma hit_step S S' i t w v : (forall j, j != i -> S j = S' j) -> i \in batch t -> visited w -> visited v ->
  norm (descent_step mu (eta t) (batch_gradient S t) w - descent_step mu (eta t) (batch_gradient S' t) v)
    <= hits t (norm (w - v)).
Proof.
move=> same it Dw Dv; have [unique short] := batches t.
rewrite /hits /hit_growth le_minr; apply/andP; split; last first.
  (* first the same table at the other point, then the other table *)
  apply: (le_trans (norm_triangle3 ip _ (descent_step mu (eta t) (batch_gradient S t) v) _)).
  apply: ler_add; first exact: common_step.
  exact: (same_point same it Dv).
rewrite step_difference /Descents.batch_gradient -scalerBr -sumrB; set u := w - v.
pose d j := g (S j) w - g (S' j) v.
have -> : (1 - eta t * mu) *: u - eta t *: (b%:R^-1 *: \sum_(j <- batch t) (g (S j) w - g (S' j) v)) =
    b%:R^-1 *: (\sum_(j <- batch t) (q t *: u - eta t *: d j) + (b - size (batch t))%:R *: (q t *: u)).
  rewrite [X in _ = _ *: (X + _)]sumrB big_const_seq count_predT iter_addr_0 -[(q t *: u) *+ _]scaler_nat.
  rewrite -scaler_sumr addrAC -scalerDl natrB // [_ + (b%:R - _)]addrC subrK scalerBr [b%:R^-1 *: (b%:R *: _)]scalerA.
  rewrite mulVf ?pnatr_eq0 -?lt0n // scale1r -/(q t).
  by congr (_ - _); rewrite !scalerA mulrC.
have c0 : 0 <= a ^+ 2 * eta t ^+ 2 by rewrite mulr_ge0 ?sqr_ge0.
rewrite normZ ger0_norm //; set F := common_growth _ _ _.
have inside : norm (\sum_(j <- batch t) (q t *: u - eta t *: d j)) <=
    ((size (batch t))%:R - 1) * F + (q t * norm u + 2 * L * eta t).
  apply: (le_trans (norm_sum _ _ _ _)); rewrite (bigD1_seq i) //= addrC; apply: ler_add.
    apply: (@le_trans _ _ (\sum_(j <- batch t | j != i) F)).
      apply: ler_sum => j ji; rewrite /d same //; apply: corner_step => //; [exact: monotone|exact: spread].
    rewrite big_const_seq iter_addr_0 -[F *+ _]mulr_natl; apply: ler_wpmul2r; first exact: common_ge0.
    have := count_predC (pred1 i) (batch t); rewrite (count_uniq_mem i unique) it => <-.
    by rewrite natrD addrAC subrr add0r.
  apply: (le_trans (norm_triangle ip _ _)); rewrite normN !normZ !ger0_norm //; apply: ler_add => //.
  rewrite mulrC ler_wpmul2r //; apply: (le_trans (norm_triangle ip _ _)); rewrite normN.
  have hw := bounded (S i) Dw; have hv := bounded (S' i) Dv.
  by apply: (@le_by2 _ _ _ _ _ _ _ hw hv); real_ring R.
have outside : norm ((b - size (batch t))%:R *: (q t *: u)) <= (b%:R - (size (batch t))%:R) * F.
  rewrite normZ normr_nat natrB // normZ ger0_norm //; apply: ler_wpmul2l; first by rewrite subr_ge0 ler_nat.
  exact: common_above (norm_ge0 _ _).
have total := ler_wpmul2l inv0 (le_trans (norm_triangle ip _ _) (ler_add inside outside)).
apply: (le_trans total); rewrite le_eqVlt; apply/orP; left; apply/eqP.
have : (b%:R : R) != 0 by rewrite pnatr_eq0 -lt0n.
move: total; set B := b%:R; set N := (size _)%:R => _ B0.
by rewrite -/(q t); real_fields R; exact/eqP.
Qed.

(* Part 1, as a statement about the movement after T steps. *)
Theorem C1 S S' i T : (forall j, j != i -> S j = S' j) ->
  norm (run S T - run S' T) <= movement common hits first (fun t => i \in batch t) T.
Proof.
move=> same; set hit := fun t => i \in batch t.
have L0 : 0 <= L by have := bounded (S i) (visits S 0); apply: le_trans; exact: norm_ge0.
have Gam0 : 0 <= Gam by have := diameter (S i) (S i) (visits S 0); rewrite subrr norm0.
suff [le start0] : norm (run S T - run S' T) <= movement common hits first hit T /\
    (~~ met hit T -> run S T = run S' T) by [].
elim: T => [|T [IH same0]]; first by rewrite subrr norm0.
have samebatch : ~~ hit T -> batch_gradient S T =1 batch_gradient S' T.
  move=> miss w; congr (_ *: _); rewrite big_seq [RHS]big_seq; apply: eq_bigr => j jT.
  by rewrite same //; apply: contraNneq miss; rewrite /hit => <-.
have c0 : 0 <= a ^+ 2 * eta T ^+ 2 by rewrite mulr_ge0 ?sqr_ge0.
split; last first.
  rewrite /= negb_or => /andP[/samebatch eqG /same0 ->]; congr (after _ _).
  by rewrite /descent_step eqG.
have next U : run U T.+1 = after T (descent_step mu (eta T) (batch_gradient U T) (run U T)) by [].
rewrite !next [X in _ <= X]/=; apply: (le_trans (nonexpansive _ _ _)).
have [touched|/same0 eqw] := boolP (met hit T); last first.
  rewrite eqw; have [hitT|/samebatch eqG] := boolP (hit T); last first.
    by rewrite step_difference eqG !subrr !scaler0 subrr norm0.
  exact: (same_point same hitT (visits S' T)).
have [hitT|/samebatch eqG] := boolP (hit T).
  apply: (le_trans (hit_step same hitT (visits S T) (visits S' T))); apply: hit_le => //; exact: norm_ge0.
have -> : descent_step mu (eta T) (batch_gradient S' T) (run S' T) =
    descent_step mu (eta T) (batch_gradient S T) (run S' T) by rewrite /descent_step eqG.
apply: (le_trans (common_step S T (visits S T) (visits S' T))); apply: common_le => //; exact: norm_ge0.
Qed.

(* Parts 3 and 5: passes with steps of at most `top` each, and shrinkage of at most `slow`. *)
Section passes_of_rows.
Variables (m : nat) (top slow : nat -> R).
Hypotheses (m0 : (0 < m)%N) (below : forall t, eta t <= top (t %/ m)) (slower : forall t, q t <= slow (t %/ m)).
Hypotheses (slow1 : forall e, slow e <= 1) (aL : a <= 2 * L) (GL : Gam <= 2 * L).

Definition pass_common e := common_growth (slow e) (a ^+ 2 * top e ^+ 2).
Definition pass_hits e := hit_growth (slow e) (a ^+ 2 * top e ^+ 2) (2 * L * top e) (Gam * top e / b%:R) b.
Definition pass_first e := Gam * top e / b%:R.

Let start_of e : (e * m %/ m = e)%N. Proof. by rewrite mulnK. Qed.
Let top0 e : 0 <= top e. Proof. by rewrite -(start_of e); exact: le_trans (eta0 _) (below _). Qed.
Let slow0 e : 0 <= slow e. Proof. by rewrite -(start_of e); exact: le_trans (q0 _) (slower _). Qed.
Let L0 : 0 <= 2 * L. Proof. exact: le_trans aL. Qed.
Let h0 e : 0 <= 2 * L * top e. Proof. by rewrite mulr_ge0. Qed.
Let c0 e : 0 <= a ^+ 2 * top e ^+ 2. Proof. by rewrite mulr_ge0 ?sqr_ge0. Qed.
Let hc e : a ^+ 2 * top e ^+ 2 <= (2 * L * top e) ^+ 2.
Proof. by rewrite exprMn ler_wpmul2r ?sqr_ge0 // ler_pexpn2r ?nnegrE. Qed.
Let c_le t : a ^+ 2 * eta t ^+ 2 <= a ^+ 2 * top (t %/ m) ^+ 2.
Proof. by rewrite ler_wpmul2l ?sqr_ge0 // ler_pexpn2r ?nnegrE. Qed.

Let share1 : 0 <= 1 - b%:R^-1 :> R. Proof. by rewrite subr_ge0 invf_le1 ?ltr0n // ler1n. Qed.

Let common_pass t x : 0 <= x -> common t x <= pass_common (t %/ m) x.
Proof.
move=> x0; apply: ler_wsqrtr; apply: ler_add; last exact: c_le.
by rewrite ler_wpmul2r ?sqr_ge0 // ler_pexpn2r ?nnegrE ?slower.
Qed.

Variables (S S' : 'I_n -> Z) (i : 'I_n).
Hypothesis same : forall j, j != i -> S j = S' j.
Let hit t := i \in batch t.
Let moved := movement common hits first hit.

Let Gam0 : 0 <= Gam. Proof. by have := diameter (S i) (S i) (visits S 0); rewrite subrr norm0. Qed.

Let first_pass_le t : first t <= pass_first (t %/ m).
Proof. by rewrite /first /pass_first ler_wpmul2r // ler_wpmul2l. Qed.

Let pass_first0 e : 0 <= pass_first e. Proof. by rewrite /pass_first mulr_ge0 // mulr_ge0. Qed.

Let hits_pass t x : 0 <= x -> hits t x <= pass_hits (t %/ m) x.
Proof.
move=> x0; have fle := common_pass t x0.
rewrite /hits /pass_hits /hit_growth le_minr; apply/andP; split; rewrite le_minl; apply/orP; [left|right].
  apply: ler_add; first exact: ler_wpmul2l.
  by rewrite ler_wpmul2l //; apply: ler_add; [rewrite ler_wpmul2r ?slower|rewrite ler_wpmul2l].
by apply: ler_add => //; exact: first_pass_le.
Qed.

Let gH e x : 0 <= x -> pass_first e <= pass_hits e x.
Proof.
move=> x0; rewrite /pass_hits /hit_growth le_minr ler_addr common_ge0 andbT.
apply: (@le_trans _ _ (b%:R^-1 * (slow e * x + 2 * L * top e))).
  rewrite /pass_first mulrC ler_wpmul2l //; apply: (@le_trans _ _ (2 * L * top e)); first exact: ler_wpmul2r.
  by rewrite ler_addr mulr_ge0.
by rewrite ler_addr mulr_ge0 ?common_ge0.
Qed.

Let f_le e x y : 0 <= x -> x <= y -> pass_common e x <= pass_common e y.
Proof. by move=> x0 xy; exact: common_le. Qed.
Let f0 e x : 0 <= pass_common e x. Proof. exact: common_ge0. Qed.
Let H_le e x y : 0 <= x -> x <= y -> pass_hits e x <= pass_hits e y.
Proof. by move=> x0 xy; exact: hit_le. Qed.
Let fH e x : 0 <= x -> pass_common e x <= pass_hits e x. Proof. by move=> x0; apply: hit_above => //; exact: pass_first0. Qed.

Let moved0 t : 0 <= moved t.
Proof.
elim: t => //= t IH; case: (met hit t); case: (hit t) => //.
- rewrite /hits /hit_growth le_minr; apply/andP; split; apply: addr_ge0; rewrite ?common_ge0 //; apply: mulr_ge0 => //.
  + exact: common_ge0.
  + by rewrite addr_ge0 // mulr_ge0.
  + exact: mulr_ge0.
- exact: common_ge0.
- by rewrite /first mulr_ge0 // mulr_ge0.
Qed.

Let unmet t : ~~ met hit t -> moved t = 0.
Proof. by case: t => //= t; rewrite negb_or => /andP[/negbTE-> /negbTE->]. Qed.

Let first_hit t : ~~ met hit t -> hit t -> moved t.+1 <= pass_first (t %/ m).
Proof. by move=> /negbTE /= -> ->; exact: first_pass_le. Qed.

Let moved_step t : moved t.+1 <= (if hit t then pass_hits (t %/ m) (moved t) else pass_common (t %/ m) (moved t)).
Proof.
rewrite /=; case: (met hit t); case: (hit t) => //.
- exact: hits_pass.
- exact: common_pass.
- exact: le_trans (first_pass_le t) (gH _ (moved0 t)).
Qed.

Theorem C1_fresh_orders k r : passes batch m -> (0 < r <= m)%N ->
  norm (run S (k * m + r) - run S' (k * m + r)) <= fresh_orders pass_common pass_hits pass_first m k r.
Proof.
move=> once rm; apply: (le_trans (C1 _ same)); apply: (fresh_orders_bound f_le f0 H_le fH pass_first0 moved0 unmet first_hit moved_step) => //.
  by move=> e x x0; apply: C1_order => //; exact: pass_first0.
by move=> t t' e ti ti'; exact: (once i).
Qed.

(* One order for all passes, steps that never grow, one shrinkage. *)
Theorem C1_one_order k r : passes batch m -> one_order batch m -> (forall e, top e.+1 <= top e) -> (forall e, slow e.+1 = slow e) ->
  (0 < r <= m)%N ->
  norm (run S (k * m + r) - run S' (k * m + r)) <= one_order_bound pass_common pass_hits pass_first m k r.
Proof.
move=> once ordered shorter steady rm; apply: (le_trans (C1 _ same)); rewrite -/hit -/moved.
have falls e x : 0 <= x -> pass_common e.+1 x <= pass_common e x.
  move=> x0; rewrite /pass_common steady; apply: ler_wsqrtr; rewrite ler_add2l ler_wpmul2l ?sqr_ge0 //.
  by rewrite ler_pexpn2r ?nnegrE.
have again e t : batch (t + e * m) = batch t by elim: e => [|e IH]; rewrite ?addn0 // mulSn [(m + _)%N]addnC addnA ordered.
have repeats t : hit t = hit (t %% m)%N by rewrite /hit {1}(divn_eq t m) addnC again.
have [p hp|never] := pickP (fun p : 'I_m => hit p).
  apply: (one_order_bounds f_le f0 H_le fH pass_first0 moved0 unmet first_hit moved_step falls (ltn_ord p)) => // t.
  rewrite repeats; apply/idP/eqP => [ht|->] //; apply: (once i) => //; by rewrite !divn_small ?ltn_mod.
have none t : ~~ met hit t.
  elim: t => //= t IH; rewrite negb_or IH andbT repeats.
  by have := never (Ordinal (ltn_pmod t m0)); rewrite /= => ->.
have pos : 0 <= after_hit pass_common pass_hits pass_first m k.
  elim: k => [|k IH] /=; first exact: pass_first0.
  by apply: le_trans (f0 _ _) (fH _ _); case: m.-1 => //= j; exact: f0.
by rewrite unmet // /one_order_bound !le_maxr pos.
Qed.

End passes_of_rows.

End corners.
