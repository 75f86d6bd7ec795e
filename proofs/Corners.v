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

(* Part 3, steps of one length: passes of m steps with at most one hit each. *)
Section fresh_orders.
Variables (R : realType) (f H : R -> R) (g : R) (m : nat) (hit : nat -> bool).
Hypotheses (f_le : forall x y, 0 <= x -> x <= y -> f x <= f y) (f0 : forall x, 0 <= f x).
Hypotheses (H_le : forall x y, 0 <= x -> x <= y -> H x <= H y) (fH : forall x, 0 <= x -> f x <= H x).
Hypotheses (order : forall x, 0 <= x -> f (H x) <= H (f x)) (g0 : 0 <= g) (gH : forall x, 0 <= x -> g <= H x).
Hypothesis (once : forall t t', (t %/ m = t' %/ m)%N -> hit t -> hit t' -> t = t').
Implicit Types (x y : R).

Local Notation moved := (movement (fun=> f) (fun=> H) (fun=> g) hit).

Let H0 x : 0 <= x -> 0 <= H x. Proof. by move=> x0; exact: le_trans (f0 x) (fH x0). Qed.

Let iter0 j x : 0 <= x -> 0 <= iter j f x.
Proof. by case: j => //= j _; exact: f0. Qed.

(* The orbit of an increasing map is monotone, so that it is largest at an end. *)
Lemma orbit x j l : 0 <= x -> (j <= l)%N -> iter j f x <= Num.max x (iter l f x).
Proof.
move=> x0 jl; have [up|/ltW down] := lerP x (f x); rewrite le_maxr; apply/orP; [right|left].
  have grows e : iter e f x <= iter e.+1 f x by elim: e => //= e IH; apply: f_le => //; exact: iter0.
  by rewrite -(subnK jl); elim: (l - j)%N => // e IH; rewrite addSn (le_trans IH).
by elim: j {jl} => //= j IH; apply: le_trans down; apply: f_le => //; exact: iter0.
Qed.

Let moved0 t : 0 <= moved t.
Proof.
elim: t => //= t IH; case: (met hit t); case: (hit t) => //; exact: H0.
Qed.

Let moved_step t : moved t.+1 <= (if hit t then H (moved t) else f (moved t)).
Proof. by rewrite /=; case: (met hit t); case: (hit t) => //; exact: gH. Qed.

(* A pass from y on, after s of its steps. *)
Let pass_from e y s : 0 <= y -> moved (e * m) <= y -> (0 < s <= m)%N -> moved (e * m + s) <= H (iter s.-1 f y).
Proof.
move=> y0 start /andP[s0 sm].
suff : (forall t, (e * m <= t < e * m + s)%N -> ~~ hit t) /\ moved (e * m + s) <= iter s f y \/
    moved (e * m + s) <= H (iter s.-1 f y) /\ exists2 t, (e * m <= t < e * m + s)%N & hit t.
  case: s s0 sm => // s _ _ [[_ le]|[] //]; apply: (le_trans le); exact: fH (iter0 _ _).
elim: s s0 sm => // s IH _ sm.
have block t : (e * m <= t < e * m + s.+1)%N -> (t %/ m = e)%N.
  move=> /andP[lo hi]; have m0 : (0 < m)%N by exact: leq_ltn_trans sm.
  apply/eqP; rewrite eqn_leq -ltnS ltn_divLR // leq_divRL // lo mulSn addnC andbT.
  by rewrite (leq_trans hi) // leq_add2l.
have last : (e * m <= e * m + s < e * m + s.+1)%N by rewrite leq_addr addnS ltnSn.
have wider t : (e * m <= t < e * m + s)%N -> (e * m <= t < e * m + s.+1)%N.
  by move=> /andP[-> lt]; rewrite addnS (ltn_trans lt).
have next := moved_step (e * m + s); rewrite -addnS in next.
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
apply: (le_trans next); apply: (le_trans (f_le (moved0 _) le)); case: s s1 {IH sm last wider next le tin block hits} => // s _.
exact: order (iter0 _ y0).
Qed.

(* The first pass: nothing before the hit, then g and common steps. *)
Definition first_pass s := Num.max g (iter s.-1 f g).

Let first_pass_bound s : (0 < s <= m)%N -> moved s <= first_pass s.
Proof.
move=> /andP[s0 sm].
suff : ~~ met hit s \/ (exists2 t, (t < s)%N & hit t) /\ exists2 j, (j < s)%N & moved s <= iter j f g.
  move=> [nothing|[_ [j js le]]].
    have -> : moved s = 0 by case: s {s0 sm} nothing => //= s; rewrite negb_or => /andP[/negbTE-> /negbTE->].
    by rewrite le_maxr g0.
  by apply: (le_trans le); apply: orbit => //; rewrite -ltnS prednK.
elim: s {s0} sm => [_|s IH sm]; first by left.
have [nothing|[[t ts hitt] [j js le]]] := IH (ltnW sm).
  have [hits|miss] := boolP (hit s); last by left; rewrite /= negb_or miss.
  by right; split; [exists s|exists 0%N => //=; rewrite (negbTE nothing) hits].
right; split; first by exists t => //; exact: ltnW.
have miss : hit s = false.
  apply/negP => hits; have same : t = s by apply: once => //; rewrite !divn_small // (ltn_trans ts).
  by move: ts; rewrite same ltnn.
exists j.+1; rewrite ?ltnS //; have next := moved_step s; rewrite miss in next.
by apply: (le_trans next); exact: f_le.
Qed.

(* k whole passes and r steps. *)
Definition fresh_orders k r :=
  if k is e.+1 then H (iter r.-1 f (iter e (fun x => H (iter m.-1 f x)) (first_pass m))) else first_pass r.

Lemma fresh_orders_bound k r : (0 < r <= m)%N -> moved (k * m + r) <= fresh_orders k r.
Proof.
move=> rm; case: k => [|k]; first exact: first_pass_bound.
have m0 : (0 < m <= m)%N by case/andP: rm => r0 rm; rewrite (leq_trans r0 rm) leqnn.
have start0 : 0 <= first_pass m by rewrite le_maxr g0.
have whole e : 0 <= iter e (fun x => H (iter m.-1 f x)) (first_pass m) /\
    moved (e.+1 * m) <= iter e (fun x => H (iter m.-1 f x)) (first_pass m).
  elim: e => [|e [pos IH]]; first by rewrite mul1n; split => //; exact: first_pass_bound.
  split; first exact: H0 (iter0 _ pos).
  by rewrite mulSn addnC; exact: pass_from.
by have [pos le] := whole k; exact: pass_from.
Qed.

End fresh_orders.

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

(* Part 3, fresh orders: steps of one length c, T = k m + r. *)
Corollary C1_fresh_orders S S' m k r (c : R) : neighbours S S' -> passes batch m -> (forall t, eta t = c) ->
  a <= 2 * L -> Gam <= 2 * L -> (0 < r <= m)%N ->
  norm (run S (k * m + r) - run S' (k * m + r)) <= fresh_orders (common 0) (hits 0) (first 0) m k r.
Proof.
move=> [i same] once const aL GL rm; apply: (le_trans (C1 _ same)).
have -> : common = fun=> common 0 by apply/funext => t; rewrite /common /q !const.
have -> : hits = fun=> hits 0 by apply/funext => t; rewrite /hits /q !const.
have -> : first = fun=> first 0 by apply/funext => t; rewrite /first !const.
have Gam0 : 0 <= Gam by have := diameter (S i) (S i) (visits S 0); rewrite subrr norm0.
have e0 := eta0 0; have q1 : q 0 <= 1 by rewrite ler_subl_addr ler_addl mulr_ge0.
have c0 : 0 <= a ^+ 2 * eta 0 ^+ 2 by rewrite mulr_ge0 ?sqr_ge0.
have L0 : 0 <= 2 * L by exact: le_trans aL.
have h0 : 0 <= 2 * L * eta 0 by exact: mulr_ge0.
have first0 : 0 <= first 0 by rewrite /first mulr_ge0 // mulr_ge0.
have hc : a ^+ 2 * eta 0 ^+ 2 <= (2 * L * eta 0) ^+ 2.
  by rewrite exprMn ler_wpmul2r ?sqr_ge0 // ler_pexpn2r ?nnegrE.
apply: fresh_orders_bound => //.
- by move=> x y x0 xy; exact: common_le.
- by move=> x; exact: common_ge0.
- by move=> x y x0 xy; exact: hit_le.
- by move=> x x0; exact: hit_above.
- by move=> x x0; exact: C1_order.
- move=> x x0; rewrite /hits /hit_growth le_minr ler_addr common_ge0 andbT.
  apply: (@le_trans _ _ (b%:R^-1 * (q 0 * x + 2 * L * eta 0))).
    rewrite /first mulrC ler_wpmul2l //; apply: (@le_trans _ _ (2 * L * eta 0)); first exact: ler_wpmul2r.
    by rewrite ler_addr mulr_ge0.
  by rewrite ler_addr mulr_ge0 ?common_ge0 // subr_ge0 invf_le1 ?ltr0n // ler1n.
- by move=> t t' e ti ti'; exact: (once i).
Qed.

End corners.
