(* Page A2, (ii), (iii), (v) and (vi): how far apart the gradients of two rows can be, and how hard a row can pull, for
   losses whose slope is a residual, clipped: squared, Huber, clipped squared, smooth absolute, smooth hinge. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Losses Radius Gradients Groups.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* V with one coordinate more, in which a row can be given its full length. *)
Section lifted.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Local Notation W := [lmodType R of (V * R^o)%type].
Implicit Types x y : W.

Definition lifted_dot x y : R := dot ip x.1 y.1 + (x.2 : R) * (y.2 : R).

Lemma lifted_dotC x y : lifted_dot x y = lifted_dot y x.
Proof. by rewrite /lifted_dot dotC mulrC. Qed.

Lemma lifted_dotDl x y z : lifted_dot (x + y) z = lifted_dot x z + lifted_dot y z.
Proof. by rewrite /lifted_dot /= dotDl mulrDl addrACA. Qed.

Lemma lifted_dotZl a x y : lifted_dot (a *: x) y = a * lifted_dot x y.
Proof. by rewrite /lifted_dot /= dotZl mulrDr mulrA. Qed.

Lemma lifted_dot_gt0 x : x != 0 -> 0 < lifted_dot x x.
Proof.
case: x => u t /=; rewrite /lifted_dot /=; have tt : 0 <= (t : R) * (t : R) by rewrite -expr2 sqr_ge0.
have [->|/(dot_gt0 ip) u0 _] := eqVneq u 0; last by rewrite ltr_spaddl.
move=> n0; rewrite dot0l add0r lt_def tt andbT mulf_neq0 //;
  by apply: contraNneq n0 => ->; exact/eqP.
Qed.

Definition lifted : inner_product W :=
  InnerProduct lifted_dotC lifted_dotDl lifted_dotZl lifted_dot_gt0.

Lemma norm_lifted x : norm ip x.1 <= norm lifted x.
Proof. by apply: ler_wsqrtr; rewrite /= /lifted_dot ler_addl -expr2 sqr_ge0. Qed.

End lifted.

Section geometry.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Implicit Types (a b v x w : V) (p q B Y K k M : R).
Add Field reals : (real_field R).
Local Notation "<< x , y >>" := (dot ip x y) (at level 0, x at level 99, y at level 99).
Local Notation norm := (norm ip).

(* Bessel, for two orthogonal vectors. *)
Lemma two_orthogonal v a b : << a, b >> = 0 ->
  << v, a >> ^+ 2 * norm b ^+ 2 + << v, b >> ^+ 2 * norm a ^+ 2 <= norm v ^+ 2 * (norm a ^+ 2 * norm b ^+ 2).
Proof.
move=> ab; have [->|a0] := eqVneq a 0.
  by rewrite dot0r norm0 !expr0n /= !(mul0r, mulr0) addr0.
have [->|b0] := eqVneq b 0.
  by rewrite dot0r norm0 !expr0n /= !(mul0r, mulr0) addr0.
have pos : 0 < << a, a >> * << b, b >> by rewrite mulr_gt0 ?dot_gt0.
rewrite -(ler_pmul2l pos) !sqr_norm.
have := dot_ge0 ip ((<< a, a >> * << b, b >>) *: v - (<< b, b >> * << v, a >>) *: a - (<< a, a >> * << v, b >>) *: b).
rewrite !(dotBl, dotBr, dotZl, dotZr) (dotC ip a v) (dotC ip b v) (dotC ip b a) ab => h.
by apply: (@le_by1 _ _ _ _ _ h); real_ring R.
Qed.

(* Two vectors of one length B, their sum and their difference. *)
Section pair.
Variables (a b v : V) (p q B Y K r M : R).
Hypotheses (B0 : 0 <= B) (Y0 : 0 <= Y) (aB : << a, a >> = B ^+ 2) (bB : << b, b >> = B ^+ 2) (vr : norm v <= r).
Hypotheses (pK : 0 <= p <= K) (qK : 0 <= q <= K) (pY : p <= Y + << v, a >>) (qY : q <= Y + << v, b >>).
Hypothesis widest : forall c, 0 <= c <= 1 -> 2 * Num.min K (Y + r * B * c) * Num.sqrt (1 - c ^+ 2) <= M.

Let S := a + b.
Let D := a - b.
Let L := Y + << v, a >>.
Let L' := Y + << v, b >>.

Let r0 : 0 <= r. Proof. exact: le_trans (norm_ge0 _ _) vr. Qed.

Let square s t : norm (s *: a - t *: b) ^+ 2 = (s ^+ 2 + t ^+ 2) * B ^+ 2 - 2 * s * t * << a, b >>.
Proof. by rewrite sqr_norm !(dotBl, dotBr, dotZl, dotZr) aB bB (dotC ip b a); real_ring R. Qed.

Let DD : norm D ^+ 2 = 2 * B ^+ 2 - 2 * << a, b >>.
Proof. by rewrite sqr_norm !(dotBl, dotBr) aB bB (dotC ip b a); real_ring R. Qed.

Let SS : norm S ^+ 2 = 2 * B ^+ 2 + 2 * << a, b >>.
Proof. by rewrite sqr_norm !(dotDl, dotDr) aB bB (dotC ip b a); real_ring R. Qed.

(* The limacon of part (iii). *)
Let limacon : norm (L *: a - L' *: b) ^+ 2 <= ((Y + r * norm S / 2) * norm D) ^+ 2.
Proof.
have SD : << S, D >> = 0 by rewrite !(dotDl, dotBr) aB bB (dotC ip b a); real_ring R.
have bessel := two_orthogonal v SD.
have vS : << v, S >> <= r * norm S.
  by rewrite (le_trans (dot_norm ip _ _)) // ler_wpmul2r ?norm_ge0.
have scale : 0 <= Y * norm D ^+ 2 by rewrite mulr_ge0 ?sqr_ge0.
have h1 := ler_wpmul2l scale vS.
have SD0 : 0 <= norm S ^+ 2 * norm D ^+ 2 by rewrite mulr_ge0 ?sqr_ge0.
have vv : norm v ^+ 2 <= r ^+ 2 by rewrite ler_pexpn2r ?nnegrE ?norm_ge0.
have h2 := le_trans bessel (ler_wpmul2r SD0 vv).
have quarter : 0 <= 2^-1 / 2 :> R by rewrite mulr_ge0 ?invr_ge0 ?ler0n.
have h3 := ler_wpmul2l quarter h2.
apply: (@le_by2 _ _ _ _ _ _ _ h1 h3).
rewrite square /L /L' [in RHS]DD [in RHS]SS !exprMn [in LHS]DD.
have -> : (Y + r * norm S / 2) ^+ 2 = Y ^+ 2 + Y * r * norm S + r ^+ 2 * (2 * B ^+ 2 + 2 * << a, b >>) / 2 / 2.
  by rewrite -SS; real_fields R.
by rewrite /S /D !(dotDr, dotBr, dotNr); real_fields R.
Qed.

Let norm_of (x : V) : << x, x >> = B ^+ 2 -> norm x = B.
Proof. by rewrite /InnerProduct.norm => ->; rewrite sqrtr_sqr ger0_norm. Qed.

Let size_le x (T : R) : 0 <= T -> norm x ^+ 2 <= T ^+ 2 -> norm x <= T.
Proof. by move=> T0; rewrite ler_pexpn2r // nnegrE norm_ge0. Qed.

(* The larger of the distances at the ends of a segment bounds those between. *)
Let segment x y (T l : R) : 0 <= l <= 1 -> norm x <= T -> norm (x + y) <= T -> norm (x + l *: y) <= T.
Proof.
move=> /andP[l0 l1] xT yT; have m0 : 0 <= 1 - l by rewrite subr_ge0.
have -> : x + l *: y = (1 - l) *: x + l *: (x + y).
  by rewrite scalerBl scale1r scalerDr addrA subrK.
apply: (le_trans (norm_triangle _ _ _)); rewrite !normZ !ger0_norm //.
have h1 := ler_wpmul2l m0 xT; have h2 := ler_wpmul2l l0 yT.
by apply: (@le_by2 _ _ _ _ _ _ _ h1 h2); real_ring R.
Qed.

Let corners (T : R) : norm (L *: a) <= T -> norm (L' *: b) <= T -> norm (L *: a - L' *: b) <= T ->
  norm (p *: a - q *: b) <= T.
Proof.
move=> hL hL' hLL'; have [p0 _] := andP pK; have [q0 _] := andP qK.
have part (s M' : R) : 0 <= s -> s <= M' -> 0 <= s / M' <= 1 /\ s = s / M' * M'.
  move=> s0 sM; have [M0|M0] := eqVneq M' 0.
    by rewrite M0 invr0 !mulr0 lexx ler01; split=> //; apply/eqP; rewrite eq_le s0 -M0 sM.
  by rewrite mulfVK //; split=> //; apply: share => //; rewrite lt_def M0 (le_trans s0).
have [lp ->] := part _ _ p0 pY; have [lq ->] := part _ _ q0 qY; rewrite -!/L -!/L'.
have T0 : 0 <= T by exact: le_trans (norm_ge0 _ _) hL.
have end1 : norm (- (q / L' * L') *: b) <= T.
  have := @segment 0 (- (L' *: b)) T (q / L') lq; rewrite norm0 !add0r normN => /(_ T0 hL').
  by rewrite scalerN scalerA scaleNr.
have end2 : norm (L *: a + - (q / L' * L') *: b) <= T.
  have := @segment (L *: a) (- (L' *: b)) T (q / L') lq hL hLL'.
  by rewrite scalerN scalerA -scaleNr.
have := @segment (- (q / L' * L') *: b) (L *: a) T (p / L) lp end1.
by rewrite [X in norm X <= T -> _]addrC => /(_ end2); rewrite scalerA addrC scaleNr.
Qed.

Lemma apart : norm (p *: a - q *: b) <= B * M.
Proof.
have na := norm_of aB; have nb := norm_of bB.
have [p0 p1] := andP pK; have [q0 q1] := andP qK; have K0 := le_trans p0 p1.
have [B00|Bpos] := eqVneq B 0.
  rewrite B00 mul0r (le_trans (norm_triangle _ _ _)) // normN !normZ na nb B00 !mulr0 addr0; exact: lexx.
have {Bpos} Bpos : 0 < B by rewrite lt_def Bpos B0.
have ab : << a, b >> <= B ^+ 2 by rewrite (le_trans (dot_norm ip _ _)) // na nb.
have S0 := norm_ge0 ip S; have D0 := norm_ge0 ip D.
pose h : R := Num.sqrt 2 / 2.
have hh : h ^+ 2 = 2^-1 by rewrite exprMn sqr_sqrtr ?ler0n //; real_fields R.
have h0 : 0 <= h by rewrite mulr_ge0 ?sqrtr_ge0 // invr_ge0 ler0n.
move: h hh h0 => h hh h0.
have [obtuse|/ltW acute] := lerP << a, b >> 0.
- apply: (@le_trans _ _ (Num.min K (Y + r * norm S / 2) * norm D)); last first.
    pose c := norm S / (2 * B).
    have B2 : 0 < 2 * B by rewrite mulr_gt0 // ltr0n.
    have Sle : norm S <= 2 * B by rewrite (le_trans (norm_triangle _ _ _)) // na nb mulr_natl mulr2n.
    have c01 : 0 <= c <= 1 by exact: share.
    have := ler_wpmul2l B0 (widest c01).
    have -> : Y + r * B * c = Y + r * norm S / 2 by rewrite /c; real_fields R; apply/eqP; rewrite gt_eqF.
    have -> : Num.sqrt (1 - c ^+ 2) = norm D / (2 * B).
      have -> : 1 - c ^+ 2 = (norm D / (2 * B)) ^+ 2.
        by rewrite /c !exprMn SS DD; real_fields R; apply/eqP; rewrite gt_eqF.
      by rewrite sqrtr_sqr ger0_norm // divr_ge0 // ltW.
    apply: le_trans; rewrite le_eqVlt; apply/orP; left; apply/eqP.
    by real_fields R; apply/eqP; rewrite gt_eqF.
  have [_|_] := leP K (Y + r * norm S / 2).
    apply: size_le; first by rewrite mulr_ge0.
    rewrite square exprMn DD.
    have h1 : p ^+ 2 <= K ^+ 2 by rewrite ler_pexpn2r.
    have h2 : q ^+ 2 <= K ^+ 2 by rewrite ler_pexpn2r.
    have h3 : p * q <= K * K by exact: ler_pmul.
    have BB := sqr_ge0 B; have ab2 : 0 <= - (2 * << a, b >>) by rewrite oppr_ge0 pmulr_rle0 // ltr0n.
    have h4 := ler_add (ler_wpmul2r BB h1) (ler_wpmul2r BB h2); have h5 := ler_wpmul2l ab2 h3.
    by apply: (@le_by2 _ _ _ _ _ _ _ h4 h5); real_ring R.
  apply: size_le; first by rewrite mulr_ge0 // addr_ge0 // mulr_ge0 ?invr_ge0 ?ler0n // mulr_ge0.
  apply: le_trans limacon; rewrite !square.
  have h1 : p ^+ 2 <= L ^+ 2 by rewrite ler_pexpn2r ?nnegrE // (le_trans p0 pY).
  have h2 : q ^+ 2 <= L' ^+ 2 by rewrite ler_pexpn2r ?nnegrE // (le_trans q0 qY).
  have h3 : p * q <= L * L' by exact: ler_pmul.
  have BB := sqr_ge0 B; have ab2 : 0 <= - (2 * << a, b >>) by rewrite oppr_ge0 pmulr_rle0 // ltr0n.
  have h4 := ler_add (ler_wpmul2r BB h1) (ler_wpmul2r BB h2); have h5 := ler_wpmul2l ab2 h3.
  by apply: (@le_by2 _ _ _ _ _ _ _ h4 h5); real_ring R.
(* The gradients point the same way: nothing is wider than a right angle. *)
have h01 : 0 <= h <= 1.
  by rewrite h0 -(@ler_pexpn2r _ 2) ?nnegrE ?ler01 // hh expr1n invf_le1 ?ltr0n // ler1n.
have right_angle : 2 * Num.min K (Y + r * B * h) * h * B <= B * M.
  have := widest h01; rewrite (_ : 1 - h ^+ 2 = h ^+ 2); last by rewrite hh; real_fields R.
  by rewrite sqrtr_sqr ger0_norm // => /(ler_wpmul2l B0); rewrite [X in X <= _]mulrC.
apply: le_trans right_angle.
have [_|_] := leP K (Y + r * B * h).
  apply: size_le; first by rewrite !mulr_ge0 ?ler0n.
  rewrite square !exprMn hh.
  have h1 : p ^+ 2 <= K ^+ 2 by rewrite ler_pexpn2r.
  have h2 : q ^+ 2 <= K ^+ 2 by rewrite ler_pexpn2r.
  have pq0 : 0 <= 2 * p * q * << a, b >> by rewrite !mulr_ge0 ?ler0n.
  have h4 := ler_add (ler_wpmul2r (sqr_ge0 B) h1) (ler_wpmul2r (sqr_ge0 B) h2).
  by apply: (@le_by2 _ _ _ _ _ _ _ h4 pq0); real_fields R.
have -> : 2 * (Y + r * B * h) * h * B = 2 * h * Y * B + r * B ^+ 2 * (2 * h ^+ 2) by real_ring R.
rewrite hh divff ?pnatr_eq0 // mulr1.
have h2 : 1 <= 2 * h.
  have e : (2 * h) ^+ 2 = 2 by rewrite exprMn hh; real_fields R.
  by rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?ler01 ?mulr_ge0 ?ler0n // e expr1n ler1n.
have YB0 : 0 <= Y * B by rewrite mulr_ge0.
have long x : << x, x >> = B ^+ 2 -> 0 <= Y + << v, x >> -> norm ((Y + << v, x >>) *: x) <= 2 * h * Y * B + r * B ^+ 2.
  move=> xx pos; rewrite normZ ger0_norm // (norm_of xx).
  have vx : << v, x >> <= r * B by rewrite (le_trans (dot_norm ip _ _)) // (norm_of xx) ler_wpmul2r.
  have e1 := ler_wpmul2r B0 vx; have e2 := ler_wpmul2r YB0 h2.
  by apply: (@le_by2 _ _ _ _ _ _ _ e1 e2); real_ring R.
apply: corners; [exact: long aB (le_trans p0 pY)|exact: long bB (le_trans q0 qY)|].
have X0 : 0 <= (Y + r * norm S / 2) * norm D by rewrite mulr_ge0 // addr_ge0 // mulr_ge0 ?invr_ge0 ?ler0n // mulr_ge0.
apply: le_trans (size_le X0 limacon) _.
have Dh : norm D <= 2 * h * B.
  apply: size_le; first by rewrite !mulr_ge0 ?ler0n.
  rewrite DD !exprMn hh; have ab0 : 0 <= 2 * << a, b >> by rewrite mulr_ge0 ?ler0n.
  by apply: (@le_by1 _ _ _ _ _ ab0); real_fields R.
have SDB : norm S * norm D <= 2 * B ^+ 2.
  have half : 0 <= 2^-1 :> R by rewrite invr_ge0 ler0n.
  have e := ler_wpmul2l half (sqr_ge0 (norm S - norm D)).
  apply: (@le_by1 _ _ _ _ _ e).
  have -> : (norm S - norm D) ^+ 2 = norm S ^+ 2 + norm D ^+ 2 - 2 * (norm S * norm D) by real_ring R.
  by rewrite SS DD; real_fields R.
have rhalf : 0 <= r / 2 by rewrite mulr_ge0 // invr_ge0 ler0n.
have e1 := ler_wpmul2l Y0 Dh; have e2 := ler_wpmul2l rhalf SDB.
by apply: (@le_by2 _ _ _ _ _ _ _ e1 e2); real_fields R.
Qed.

End pair.
End geometry.

(* The largest 2 min(K, Y + k c) sqrt(1 - c^2) over c in [0, 1], in the code's form: Y what a prediction of 0 lacks, k how
   far predictions reach, K the cap. *)
Section widest.
Variable R : realType.
Implicit Types (K Y k c x : R).
Add Field reals : (real_field R).

Definition peak Y k : R := 2 * k / (Y + Num.sqrt (Y ^+ 2 + 8%:R * k ^+ 2)).

Definition uncapped Y k : R := 2 * (Y + k * peak Y k) * Num.sqrt (1 - peak Y k ^+ 2).

Definition widest K Y k : R :=
  if K <= Y then 2 * K
  else if k * peak Y k <= K - Y then uncapped Y k
  else 2 * K * Num.sqrt (1 - ((K - Y) / k) ^+ 2).

Variables (Y k : R).
Hypotheses (Y0 : 0 <= Y) (k0 : 0 <= k).

Lemma peakP : 0 <= peak Y k <= 1 /\ k - Y * peak Y k - 2 * k * peak Y k ^+ 2 = 0.
Proof.
rewrite /peak; set s := Num.sqrt _; have s0 : 0 <= s by exact: sqrtr_ge0.
have ss : s ^+ 2 = Y ^+ 2 + 8%:R * k ^+ 2 by rewrite sqr_sqrtr // addr_ge0 ?sqr_ge0 // mulr_ge0 ?sqr_ge0 ?ler0n.
have [/eqP sum0|sum0] := eqVneq (Y + s) 0.
  have {sum0} : (Y == 0) && (s == 0) by rewrite -paddr_eq0.
  move=> /andP[/eqP Y00 /eqP s00]; have k00 : k = 0.
    by move: ss; rewrite s00 Y00 expr0n /= add0r => /esym/eqP; rewrite mulf_eq0 pnatr_eq0 /= sqrf_eq0 => /eqP.
  by rewrite k00 !(mulr0, mul0r) !subr0 lexx ler01.
have pos : 0 < Y + s by rewrite lt_def sum0 addr_ge0.
split; last first.
  apply: (mulIf (x := (Y + s) ^+ 2)); first by rewrite expf_neq0.
  rewrite mul0r; transitivity (k * (s ^+ 2 - Y ^+ 2 - 8%:R * k ^+ 2)); last by rewrite ss; real_ring R.
  by real_fields R; exact/eqP.
apply: share => //; first by rewrite mulr_ge0 ?ler0n.
apply: (@le_trans _ _ s); last by rewrite ler_addr.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0 ?ler0n // ss.
have h : 0 <= Y ^+ 2 + 4%:R * k ^+ 2 by rewrite addr_ge0 ?sqr_ge0 // mulr_ge0 ?sqr_ge0 ?ler0n.
by apply: (@le_by1 _ _ _ _ _ h); real_ring R.
Qed.

Let height x := (Y + k * x) ^+ 2 * (1 - x ^+ 2).

Let by_height x c : 0 <= x <= 1 -> 0 <= c <= 1 -> height x <= height c ->
  (Y + k * x) * Num.sqrt (1 - x ^+ 2) <= (Y + k * c) * Num.sqrt (1 - c ^+ 2).
Proof.
move=> /andP[x0 x1] /andP[c0 c1] le.
have low (z : R) : 0 <= z -> z <= 1 -> 0 <= 1 - z ^+ 2 by move=> z0 z1; rewrite subr_ge0 expr_le1.
have up (z : R) : 0 <= z -> 0 <= Y + k * z by move=> z0; rewrite addr_ge0 // mulr_ge0.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0 ?sqrtr_ge0 ?up //.
by rewrite !exprMn !sqr_sqrtr ?low.
Qed.

Lemma uncapped_widest x : 0 <= x <= 1 -> 2 * (Y + k * x) * Num.sqrt (1 - x ^+ 2) <= uncapped Y k.
Proof.
move=> x01; have [c01 root] := peakP; have [x0 _] := andP x01; have [c0 _] := andP c01.
rewrite /uncapped -!mulrA ler_pmul2l ?ltr0n //; apply: by_height => //.
move: (peak Y k) c01 root c0 => c c01 root c0.
have gap : 0 <= (x - c) ^+ 2 * (k ^+ 2 * x ^+ 2 + (2 * k * Y + 2 * k ^+ 2 * c) * x + (Y ^+ 2 + 3%:R * (k * Y * c) + k ^+ 2 * c ^+ 2)).
  have g1 : 0 <= k ^+ 2 * x ^+ 2 by rewrite mulr_ge0 ?sqr_ge0.
  have g2 : 0 <= (2 * k * Y + 2 * k ^+ 2 * c) * x by rewrite mulr_ge0 // addr_ge0 // !mulr_ge0 ?sqr_ge0 ?ler0n.
  have g3 : 0 <= 3%:R * (k * Y * c) by rewrite !mulr_ge0 ?ler0n.
  have g4 : 0 <= k ^+ 2 * c ^+ 2 by rewrite mulr_ge0 ?sqr_ge0.
  by rewrite mulr_ge0 ?sqr_ge0 // !addr_ge0 ?sqr_ge0.
apply: (@le_by1 _ _ _ _ _ gap).
have -> : height c - height x = (x - c) ^+ 2 * (k ^+ 2 * x ^+ 2 + (2 * k * Y + 2 * k ^+ 2 * c) * x
    + (Y ^+ 2 + 3%:R * (k * Y * c) + k ^+ 2 * c ^+ 2))
  - (k - Y * c - 2 * k * c ^+ 2) * ((x - c) * (2 * (Y + k * c)) + (x - c) ^+ 2 * k) by rewrite /height; real_ring R.
by rewrite root mul0r.
Qed.

Let rising x c : 0 <= x <= c -> 0 <= c <= peak Y k -> height x <= height c.
Proof.
move=> /andP[x0 xc] /andP[c0 cp]; have [/andP[p0 p1] root] := peakP.
have d0 : 0 <= c - x by rewrite subr_ge0.
have turn : 0 <= k - Y * c - 2 * k * c ^+ 2.
  have h1 := ler_wpmul2l Y0 cp.
  have cc : c ^+ 2 <= peak Y k ^+ 2 by rewrite ler_pexpn2r.
  have kk : 0 <= 2 * k by rewrite mulr_ge0 ?ler0n.
  have h2 := ler_wpmul2l kk cc.
  rewrite -root; apply: (@le_by2 _ _ _ _ _ _ _ h1 h2); real_ring R.
have P0 : 0 <= Y + k * x by rewrite addr_ge0 // mulr_ge0.
have first : 0 <= (2 * Y + k * x + k * c) * (k - Y * c - 2 * k * c ^+ 2).
  by rewrite mulr_ge0 // !addr_ge0 ?mulr_ge0 ?ler0n.
have second : 0 <= c * (3%:R * ((Y + k * x) * (k * (c - x))) + (k * (c - x)) ^+ 2) + (Y + k * x) ^+ 2 * (c - x).
  by rewrite addr_ge0 // mulr_ge0 ?sqr_ge0 // addr_ge0 ?sqr_ge0 // !mulr_ge0 ?ler0n.
have h := ler_add (ler_wpmul2l d0 first) (ler_wpmul2l d0 second).
by apply: (@le_by1 _ _ _ _ _ h); rewrite /height; real_ring R.
Qed.

Lemma widest_bounds K c : 0 <= K -> 0 <= c <= 1 -> 2 * Num.min K (Y + k * c) * Num.sqrt (1 - c ^+ 2) <= widest K Y k.
Proof.
move=> K0 c01; have [c0 c1] := andP c01; have root0 := sqrtr_ge0 (1 - c ^+ 2).
have minK : Num.min K (Y + k * c) <= K by rewrite le_minl lexx.
have minY : Num.min K (Y + k * c) <= Y + k * c by rewrite le_minl lexx orbT.
have two : 0 <= 2 :> R by rewrite ler0n.
rewrite /widest; have [KY|YK] := lerP K Y.
  rewrite -mulrA ler_pmul2l ?ltr0n // -[K in X in _ <= X]mulr1.
  apply: ler_pmul => //; first by rewrite le_minr K0 addr_ge0 // mulr_ge0.
  by rewrite -[X in _ <= X]sqrtr1 ler_wsqrtr // ler_subl_addr ler_addl sqr_ge0.
have [below|above] := lerP (k * peak Y k) (K - Y).
  apply: le_trans (uncapped_widest c01); rewrite ler_wpmul2r // ler_wpmul2l //.
have [/andP[p0 p1] root] := peakP; have room : 0 < K - Y by rewrite subr_gt0.
have kpos : 0 < k.
  rewrite lt_def k0 andbT; apply/eqP => k00; move: above; rewrite k00 mul0r ltNge.
  by rewrite (ltW room).
pose c1' := (K - Y) / k; have c1'0 : 0 <= c1' by rewrite divr_ge0 // ltW.
have kc1 : k * c1' = K - Y by rewrite /c1' mulrC divfK // gt_eqF.
have c1'p : c1' <= peak Y k by rewrite -(ler_pmul2l kpos) kc1 ltW.
have [cle|/ltW cge] := lerP c c1'.
  have -> : 2 * K * Num.sqrt (1 - ((K - Y) / k) ^+ 2) = 2 * ((Y + k * c1') * Num.sqrt (1 - c1' ^+ 2)).
    by rewrite kc1 [Y + _]addrC subrK mulrA.
  rewrite -mulrA ler_pmul2l ?ltr0n //.
  apply: (@le_trans _ _ ((Y + k * c) * Num.sqrt (1 - c ^+ 2))); first by rewrite ler_wpmul2r.
  apply: by_height => //; first by rewrite c1'0 (le_trans c1'p).
  by apply: rising; rewrite ?c0 ?c1'0.
rewrite -!mulrA ler_pmul2l ?ltr0n //; apply: ler_pmul => //.
  by rewrite le_minr K0 addr_ge0 // mulr_ge0.
rewrite -/c1'; apply: ler_wsqrtr; rewrite ler_add2l ler_opp2 ler_pexpn2r //.
Qed.

End widest.

(* A row's slope s at the prediction m: q s is at most the cap K in size, and at most the residual, stretched by t, that a
   target of size Y allows. *)
Section limited.
Variables (R : realType) (V : lmodType R) (ip : inner_product V) (t q K Y : R).
Hypotheses (t0 : 0 < t) (q0 : 0 < q) (Y0 : 0 <= Y).
Implicit Types (s m B r : R) (x w : V).
Add Field reals : (real_field R).
Local Notation "<< x , y >>" := (dot ip x y) (at level 0, x at level 99, y at level 99).
Local Notation norm := (norm ip).

Definition limited s m := [/\ `|q * s| <= K, 0 < s -> q * s <= t * (Y + m) & s < 0 -> - (q * s) <= t * (Y - m)].

Local Notation W := [lmodType R of (V * R^o)%type].

(* A gradient as a non-negative multiple of a lifted row of full length. *)
Let lift B s x w : 0 <= B -> norm x <= B -> limited s << w, x >> ->
  exists p (a : W), [/\ lifted_dot ip a a = B ^+ 2, 0 <= p <= K,
    p <= t * Y + lifted_dot ip (t *: w, 0) a & p *: a.1 = (q * s) *: x].
Proof.
move=> B0 xB [sK up down]; have K0 : 0 <= K by exact: le_trans (normr_ge0 _) sK.
have xx : 0 <= B ^+ 2 - << x, x >> by rewrite subr_ge0 -sqr_norm ler_pexpn2r ?nnegrE ?norm_ge0.
have [s0|s0|s0] := ltrgtP s 0.
- exists (- (q * s)), (- x, Num.sqrt (B ^+ 2 - << x, x >>)); split=> //=.
  + by rewrite /lifted_dot /= dotNl dotNr opprK -expr2 sqr_sqrtr // addrC subrK.
  + by rewrite oppr_ge0 pmulr_rle0 // ltW //= (le_trans (ler_norm _)) // normrN.
  + by rewrite /lifted_dot /= mul0r addr0 dotZl dotNr (le_trans (down s0)) // mulrDr.
  + by rewrite scalerN scaleNr opprK.
- exists (q * s), (x, Num.sqrt (B ^+ 2 - << x, x >>)); split=> //=.
  + by rewrite /lifted_dot /= -expr2 sqr_sqrtr // addrC subrK.
  + by rewrite mulr_ge0 ?(ltW q0) ?(ltW s0) //= (le_trans (ler_norm _)).
  + by rewrite /lifted_dot /= mul0r addr0 dotZl (le_trans (up s0)) // mulrDr.
- exists 0, (0, B); split=> //=.
  + by rewrite /lifted_dot /= dot0l add0r -expr2.
  + by rewrite lexx.
  + by rewrite /lifted_dot /= dot0r mul0r !addr0 mulr_ge0 // ltW.
  + by rewrite s0 mulr0 !scale0r.
Qed.

(* Page A2: the gradient diameter of such losses. *)
Theorem limited_diameter B r x x' w s s' : 0 <= B -> norm x <= B -> norm x' <= B -> norm w <= r ->
  limited s << w, x >> -> limited s' << w, x' >> ->
  norm (s *: x - s' *: x') <= B * widest K (t * Y) (t * r * B) / q.
Proof.
move=> B0 xB xB' wr lim lim'.
have [p [a [aB pK pY pa]]] := lift B0 xB lim; have [p' [a' [aB' pK' pY' pa']]] := lift B0 xB' lim'.
rewrite ler_pdivl_mulr // mulrC.
have r0 : 0 <= r by exact: le_trans (norm_ge0 _ _) wr.
have tY : 0 <= t * Y by rewrite mulr_ge0 // ltW.
have K0 : 0 <= K by case/andP: pK => /le_trans; apply.
have trB : 0 <= t * r * B by rewrite !mulr_ge0 // ltW.
have vr : InnerProduct.norm (lifted ip) (t *: w, 0 : R^o) <= t * r.
  rewrite /InnerProduct.norm /= /lifted_dot /= mulr0 addr0 -/(InnerProduct.norm ip (t *: w)) normZ ger0_norm ?(ltW t0) //.
  by rewrite ler_pmul2l.
have h := @apart _ _ (lifted ip) a a' (t *: w, 0) p p' B (t * Y) K (t * r) _ B0 tY aB aB' vr pK pK' pY pY'
  (fun c c01 => widest_bounds tY trB K0 c01).
apply: le_trans h; apply: le_trans (norm_lifted ip _).
by rewrite /= pa pa' -[X in X * _]ger0_norm ?(ltW q0) // -normZ scalerBr !scalerA.
Qed.

(* Lemma R's pull, in the code's form: reach is how far predictions reach. *)
Definition limited_pull reach : R :=
  if K < t * Y / 2 then K * Num.min (t * reach) (t * Y - K) / (t * q)
  else let place := Num.min (t * reach) (t * Y / 2) in place * Num.min K (t * Y - place) / (t * q).

(* The largest x min(K, F - x) for x from 0 to r. *)
Let climb (F r' x y : R) : 0 <= K -> 0 <= x <= r' -> 0 <= y -> y <= K -> y <= F - x ->
  x * y <= if K < F / 2 then K * Num.min r' (F - K)
           else Num.min r' (F / 2) * Num.min K (F - Num.min r' (F / 2)).
Proof.
move=> K0 /andP[x0 xr] y0 yK yF; have xF : 0 <= F - x by exact: le_trans y0 yF.
have two : 0 < 2 :> R by rewrite ltr0n.
have xyF := ler_wpmul2l x0 yF; have xyK := ler_wpmul2l x0 yK.
case: ifP => [small|/negbT]; last rewrite -leNgt => large.
  have FK : 0 <= F - K - K by move: small; rewrite ltr_pdivl_mulr // => /ltW h; apply: (@le_by1 _ _ _ _ _ h); real_ring R.
  have [_|_] := leP r' (F - K); first by rewrite (le_trans xyK) // mulrC ler_wpmul2l.
  have [xle|/ltW xge] := lerP x (F - K); first by rewrite (le_trans xyK) // mulrC ler_wpmul2l.
  have e1 : 0 <= x - K by apply: (@le_by2 _ _ _ _ _ _ _ FK xge); real_ring R.
  have e2 : 0 <= x + K - F by apply: (@le_by1 _ _ _ _ _ xge); real_ring R.
  by apply: (@le_by2 _ _ _ _ _ _ _ xyF (mulr_ge0 e1 e2)); real_ring R.
have top (x' : R) : x' * (F - x') <= F / 2 * (F / 2).
  by apply: (@le_by1 _ _ _ _ _ (sqr_ge0 (x' - F / 2))); real_fields R.
have far : Num.min K (F - F / 2) = F / 2.
  have -> : F - F / 2 = F / 2 by real_fields R.
  exact/min_idPr.
have [near|_] := leP r' (F / 2); last by rewrite far (le_trans xyF).
have [_|_] := leP K (F - r'); first by rewrite (le_trans xyK) // ler_wpmul2r.
have e1 : 0 <= r' - x by rewrite subr_ge0.
have e2 : 0 <= F - r' - x.
  have h := ler_add near near; have {}h := ler_add h e1.
  by apply: (@le_by1 _ _ _ _ _ h); real_fields R.
by apply: (@le_by2 _ _ _ _ _ _ _ xyF (mulr_ge0 e1 e2)); real_ring R.
Qed.

Theorem limited_pulls s m reach : `|m| <= reach -> limited s m -> - (m * s) <= limited_pull reach.
Proof.
move=> mr [sK up down]; have K0 : 0 <= K by exact: le_trans (normr_ge0 _) sK.
have tq : 0 < t * q by rewrite mulr_gt0.
have -> : limited_pull reach = (if K < t * Y / 2 then K * Num.min (t * reach) (t * Y - K)
    else Num.min (t * reach) (t * Y / 2) * Num.min K (t * Y - Num.min (t * reach) (t * Y / 2))) / (t * q).
  by rewrite /limited_pull; case: ifP.
rewrite ler_pdivl_mulr //.
have r0 : 0 <= reach by exact: le_trans (normr_ge0 _) mr.
have [m0|m0] := lerP 0 (m * s).
  apply: (@le_trans _ _ (0 * 0)); last first.
    apply: climb => //; first by rewrite lexx mulr_ge0 // ltW.
    by rewrite subr0 mulr_ge0 // ltW.
  by rewrite mulr0 pmulr_lle0 // oppr_le0.
have [s0|s0|s0] := ltrgtP s 0; last by move: m0; rewrite s0 mulr0 ltxx.
- have mpos : 0 < m by move: m0; rewrite nmulr_llt0.
  have -> : - (m * s) * (t * q) = (t * m) * - (q * s) by real_ring R.
  apply: climb => //.
  + by rewrite mulr_ge0 ?(ltW t0) ?(ltW mpos) //= ler_pmul2l // (le_trans (ler_norm _)).
  + by rewrite oppr_ge0 pmulr_rle0 // ltW.
  + by rewrite (le_trans (ler_norm _)) // normrN.
  + by rewrite -mulrBr; exact: down.
- have mneg : m < 0 by move: m0; rewrite pmulr_llt0.
  have -> : - (m * s) * (t * q) = (t * - m) * (q * s) by real_ring R.
  apply: climb => //.
  + rewrite mulr_ge0 ?(ltW t0) ?oppr_ge0 ?(ltW mneg) //= ler_pmul2l //.
    by rewrite (le_trans (ler_norm _)) // normrN.
  + by rewrite mulr_ge0 // ltW.
  + by rewrite (le_trans (ler_norm _)).
  + by rewrite -mulrBr opprK; exact: up.
Qed.

End limited.
