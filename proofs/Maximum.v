(* Pages E5, Q1 and N6: the largest of scores with independent noise, as it is drawn. *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum zmodp matrix interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality mathcomp_extra set_interval.
From mathcomp.analysis Require Import reals ereal topology normedtype realfun sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Privacy Vectors Laplace Lebesgue Noise.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

(* The law with a density that is proportional to p. *)
Section proportional.
Context (R : realType) d (T : measurableType d).
Variables (mu : {measure set T -> \bar R}) (p : T -> R).
Hypotheses (mp : measurable_fun setT p) (p0 : forall x, 0 <= p x).
Hypotheses (finite : (\int[mu]_x (p x)%:E < +oo)%E) (positive : (0 < \int[mu]_x (p x)%:E)%E).

Let mass := (\int[mu]_x (p x)%:E)%E.
Let density x := (fine mass)^-1 * p x.

Let density_ge0 x : 0 <= density x.
Proof. by rewrite mulr_ge0 ?invr_ge0 // fine_ge0 // ltW. Qed.

Let measurable_density : measurable_fun setT density. Proof. exact: measurable_funrM. Qed.

Definition proportional E := (\int[mu]_(x in E) (density x)%:E)%E.

Let proportional0 : proportional set0 = 0%E. Proof. exact: integral_set0. Qed.

Let proportional_ge0 E : (0 <= proportional E)%E.
Proof. by apply: integral_ge0 => x _; rewrite lee_fin. Qed.

Lemma proportional_is_law : proportional setT = 1%E.
Proof.
rewrite /proportional /density; under eq_integral do rewrite EFinM.
rewrite ge0_integralM_EFin //; last 3 first.
- by move=> x _; rewrite lee_fin.
- exact/EFin_measurable_fun.
- by rewrite invr_ge0 fine_ge0 // ltW.
rewrite -/mass -[mass in LHS](@fineK _ mass) -?EFinM ?mulVf //; last by rewrite ge0_fin_numE // ltW.
have more : (0 < mass)%E := positive; have less : (mass < +oo)%E := finite.
by rewrite gt_eqF //= fine_gt0 // more less.
Qed.

Let proportional_sigma_additive : semi_sigma_additive proportional.
Proof.
move=> F mF disjoint mUF; rewrite /proportional ge0_integral_bigcup //; last 2 first.
- split; first by apply: measurable_funTS; exact/EFin_measurable_fun.
  apply: (@le_lt_trans _ _ (proportional setT)); last by rewrite proportional_is_law ltry.
  rewrite (eq_integral (fun x => (density x)%:E)) => [|x _]; last by rewrite /= ger0_norm.
  by apply: subset_integral => //; [exact/EFin_measurable_fun|move=> x _; rewrite lee_fin].
- by move=> x _; rewrite lee_fin.
by apply: is_cvg_nneseries => n _; exact: proportional_ge0.
Qed.

HB.instance Definition _ := isMeasure.Build _ _ _ proportional
  proportional0 proportional_ge0 proportional_sigma_additive.

Definition proportional_law : {measure set T -> \bar R} := [the measure _ _ of proportional].

Lemma proportional_density : has_density mu proportional_law density.
Proof. by split. Qed.

Lemma proportional_constant : exists c, 0 <= c /\ density = fun x => c * p x.
Proof. by exists (fine mass)^-1; rewrite invr_ge0 fine_ge0 // ltW. Qed.

End proportional.

(* Noise on one number, moved up. *)
Section moved_up.
Variable R : realType.
Local Notation line := (line R).
Implicit Types (nu : {measure set line -> \bar R}) (f : line -> R) (t epsilon : R).

Definition moved nu t : {measure set line -> \bar R} :=
  [the measure _ _ of pushforward nu (measurable_line_shift t)].

Lemma moved_density nu f t : has_density (length R) nu f -> has_density (length R) (moved nu t) (fun x => f (x - t)).
Proof.
move=> [mf f0 fE].
have mg : measurable_fun setT (fun x : line => f (x - t)).
  rewrite (_ : (fun x => _) = f \o (fun x : line => (x + - t : line))) //.
  by apply: measurable_fun_comp => //; exact: measurable_line_shift.
split=> // E mE; pose h := fun x : line => (x + t : line).
have mh : measurable_fun setT h by exact: measurable_line_shift.
have mhE : measurable (h @^-1` E) by rewrite -[_ @^-1` _]setTI; exact: mh.
rewrite [LHS]/= [LHS]/pushforward fE // integral_mkcond [RHS]integral_mkcond.
pose g := (fun x : line => (f (x - t))%:E) \_ E.
have mg' : measurable_fun setT g.
  apply/(measurable_restrict _ mE measurableT (@subsetT _ E)).
  by apply: measurable_funTS; exact/EFin_measurable_fun.
have g0 x : (0 <= g x)%E by rewrite /g /patch; case: ifP; rewrite ?lee_fin.
have -> : (\int[length R]_x g x = \int[length R]_x (g \o h) x)%E.
  rewrite -(integral_pushforward mh) //; apply: eq_measure_integral => A mA _.
  by rewrite /= /pushforward length_shift.
apply: eq_integral => x _; rewrite /= /g /patch.
have -> : (h x \in E) = (x \in h @^-1` E) by apply/idP/idP; rewrite !inE.
by rewrite /h addrK.
Qed.

(* A density that falls by at most a factor e^epsilon over a distance t to the right. *)
Lemma moved_close nu f t epsilon : has_density (length R) nu f -> (forall x : R, f x <= expR epsilon * f (x + t)) ->
  close epsilon 0 (moved nu t) nu.
Proof.
move=> density slow; apply: density_ratio (moved_density t density) density _ => x.
by have := slow (x - t); rewrite subrK.
Qed.

End moved_up.

(* Mechanisms that see nothing of y. *)
Definition constant_kernel (R : realType) d d' (Y : measurableType d) (X : measurableType d')
  (m : {measure set X -> \bar R}) (m1 : m setT = 1%E) : kernel R Y X :=
  Kernel (fun=> m1) (fun E _ => @measurable_fun_cst _ _ Y _ setT (m E)).

(* Independent numbers of one law: the product of their laws, number by number. *)
Section independent.
Variables (R : realType) (nu : {measure set (line R) -> \bar R}) (nu1 : nu setT = 1%E).
Local Notation vectors := (vectors R).

Let law_of d := {m : {measure set (vectors d) -> \bar R} | m setT = 1%E}.

Lemma one_point : [the measure _ _ of @dirac _ (vectors 0) 0 R] setT = 1%E.
Proof. by rewrite /= diracE in_setT. Qed.

Lemma one_more_is_law d (m : law_of d) :
  [the measure _ _ of pushforward (joint_law nu (constant_kernel (line R) (proj2_sig m))) (@measurable_prepend R d)]
    setT = 1%E.
Proof. by rewrite /= /pushforward preimage_setT; exact: (joint_is_law (constant_kernel _ (proj2_sig m)) nu1). Qed.

Fixpoint independent_sig d : law_of d :=
  match d return law_of d with
  | 0%N => exist (fun m : {measure set (vectors 0) -> \bar R} => m setT = 1%E) _ one_point
  | d'.+1 => exist (fun m : {measure set (vectors d'.+1) -> \bar R} => m setT = 1%E) _
      (one_more_is_law (independent_sig d'))
  end.

Definition independent d := proj1_sig (independent_sig d).

Lemma independent_is_law d : independent d setT = 1%E.
Proof. exact: proj2_sig (independent_sig d). Qed.

Lemma independentE d E : independent d.+1 E = (\int[nu]_a independent d (xsection (@prepend R d @^-1` E) a))%E.
Proof. by []. Qed.

(* Nothing else has the probabilities of boxes that independence asks for. *)
Lemma independent_box d (A : set (line R)) (B : set (vectors d)) : measurable A -> measurable B ->
  independent d.+1 ((fun x : vectors d.+1 => (x : 'rV[R]_d.+1) 0 0) @^-1` A `&` @tail R d @^-1` B) =
    (nu A * independent d B)%E.
Proof.
move=> mA mB; rewrite independentE.
have -> : @prepend R d @^-1` ((fun x : vectors d.+1 => (x : 'rV[R]_d.+1) 0 0) @^-1` A `&` @tail R d @^-1` B) = A `*` B.
  apply/seteqP; split=> -[a x] /=; rewrite mxE unlift_none /= (_ : tail _ = x) //;
    by apply/rowP => j; rewrite !mxE liftK.
rewrite (eq_integral (fun a => (independent d B) * (\1_A a)%:E)%E) => [|a _].
  rewrite ge0_integralM //; last 2 first.
  - exact/EFin_measurable_fun/measurable_fun_indic.
  - by move=> a _; rewrite lee_fin.
  by rewrite integral_indic // setIT muleC.
rewrite indicE; have [aA|aA] := boolP (a \in A); first by rewrite mule1 in_xsectionM.
by rewrite mule0 notin_xsectionM // measure0.
Qed.

Variables (t epsilon : R).
Hypothesis hides : close epsilon 0 (moved nu t) nu.

(* One of the numbers is moved up. *)
Lemma independent_moved d (c : 'I_d) : close epsilon 0 (shifted (independent d) (t *: delta_mx 0 c)) (independent d).
Proof.
have e0 : (0 <= (expR epsilon)%:E)%E by rewrite lee_fin ltW // expR_gt0.
elim: d c => [[] //|d IH] c E mE; set w := t *: delta_mx 0 c : 'rV[R]_d.+1.
rewrite -[X in (X <= _)%E]/(independent d.+1 ((fun x : vectors d.+1 => (x + w : vectors d.+1)) @^-1` E)).
rewrite !independentE adde0.
pose A := @prepend R d @^-1` E.
have mA : measurable A by rewrite -[A]setTI; exact: measurable_prepend.
pose g a := independent d (xsection A a).
have mg : measurable_fun setT g by exact: (measurable_sections (constant_kernel (line R) (independent_is_law d)) mA).
have g01 a : (0 <= g a <= 1)%E.
  rewrite measure_ge0 /=; apply: (kernel_le1 (constant_kernel (line R) (independent_is_law d)) a).
  exact: measurable_xsection.
have sections a : xsection (@prepend R d @^-1` ((fun x : vectors d.+1 => (x + w : vectors d.+1)) @^-1` E)) a =
    (fun x : vectors d => (x + tail w : vectors d)) @^-1` (xsection A (a + w 0 0 : line R)).
  by apply/seteqP; split=> x; rewrite /xsection /= !inE /= prepend_shift.
rewrite (eq_integral (fun a : line R => shifted (independent d) (tail w) (xsection A (a + w 0 0 : line R)))) => [|a _]; last first.
  by rewrite sections.
have [j cj|c0] := unliftP 0 c.
  have w0 : w 0 0 = 0 by rewrite /w cj !mxE !eqxx mulr0.
  have tailw : tail w = t *: delta_mx 0 j by apply/rowP => i; rewrite /w cj !mxE (inj_eq lift_inj).
  rewrite -ge0_integralM_EFin //.
  have section (a : line R) : xsection A (a + w 0 0 : line R) = xsection A a by rewrite w0 addr0.
  under eq_integral do rewrite section.
  apply: ge0_le_integral => //.
  - rewrite tailw /=.
    have mf := @measurable_translation R d (t *: delta_mx 0 j).
    have law : shifted (independent d) (t *: delta_mx 0 j) setT = 1%E.
      by rewrite /= /pushforward preimage_setT independent_is_law.
    exact: (measurable_sections (constant_kernel (line R) law) mA).
  - by move=> a _; rewrite mule_ge0 //; case/andP: (g01 a).
  - exact: measurable_funeM.
  - move=> a _; have := IH j (xsection A a); rewrite adde0 tailw; apply.
    exact: measurable_xsection.
have w0 : w 0 0 = t by rewrite /w c0 !mxE !eqxx mulr1.
have tailw : tail w = 0 by apply/rowP => i; rewrite /w c0 !mxE mulr0.
have -> : (\int[nu]_a shifted (independent d) (tail w) (xsection A ((a : R) + w 0 0 : line R)%R) =
    \int[moved nu t]_a g a)%E.
  rewrite (integral_pushforward (measurable_line_shift t)) //.
  apply: eq_integral => a _; rewrite /= /pushforward /g w0; congr (independent d _).
  by apply/seteqP; split=> x /=; rewrite tailw addr0.
have moved1 : moved nu t setT = 1%E by rewrite /= /pushforward preimage_setT.
by have := close_emean moved1 hides mg g01; rewrite adde0.
Qed.

End independent.

(* The place of the largest of some numbers, the first of them where several are. *)
Section largest.
Variables (R : realType) (k : nat).
Implicit Types (v : 'I_k.+1 -> R) (c j : 'I_k.+1).

Definition first_largest v c := [forall j, (v j < v c) || (v j == v c) && (c <= j)%N].

Lemma first_largest_exists v : exists c, first_largest v c.
Proof.
pose top := [arg max_(i > ord0) v i]%O.
have topP j : v j <= v top by rewrite /top; case: arg_maxP => // i _; apply.
have [c /eqP vc least] := @arg_minnP _ top (fun c => v c == v top) (fun c : 'I_k.+1 => c : nat) (eqxx _).
exists c; apply/forallP => j; rewrite vc lt_neqAle topP andbT; case: eqP => //= e.
by apply: least; rewrite e.
Qed.

Lemma first_largest_unique v c c' : first_largest v c -> first_largest v c' -> c = c'.
Proof.
move=> /forallP/(_ c') h /forallP/(_ c) h'; apply/val_inj/eqP; rewrite eqn_leq.
move: h h' => /orP[lt|/andP[/eqP-> ->]] /orP[lt'|/andP[/eqP e ->]] //; first by have := lt_trans lt lt'; rewrite ltxx.
  by move: lt; rewrite e ltxx.
by move: lt'; rewrite ltxx.
Qed.

Definition largest v := odflt ord0 [pick c | first_largest v c].

Lemma largestP v c : (largest v == c) = first_largest v c.
Proof.
have [top h] := first_largest_exists v; rewrite /largest; case: pickP => [c' h'|/(_ top)]; last by rewrite h.
by apply/eqP/idP => [<- //|hc]; exact: first_largest_unique h' hc.
Qed.

(* Numbers that move by at most M each, and the largest, moved up by 2 M: it stays the largest. *)
Lemma largest_stays v v' c (M t : R) : (forall j, `|v j - v' j| <= M) -> 2 * M <= t ->
  largest v == c -> largest (fun j => v' j + t *+ (j == c)) == c.
Proof.
move=> near two; rewrite !largestP => /forallP top; apply/forallP => j.
have M0 : 0 <= M by exact: le_trans (near ord0).
have [->|_] := eqVneq j c; first by rewrite leqnn !eqxx orbT.
have hj : v' j <= v j + M by have := near j; rewrite distrC ler_distl => /andP[_].
have hc : v c <= v' c + M by have := near c; rewrite ler_distl => /andP[_].
have up : v c + M <= v' c + t.
  by rewrite (le_trans (ler_add hc (lexx M))) // -addrA ler_add2l (le_trans _ two) // mulr_natl mulr2n.
rewrite eqxx mulr1n mulr0n addr0; have := top j => /orP[lt|/andP[/eqP e cj]].
  by rewrite (le_lt_trans hj) // (lt_le_trans _ up) // ltr_add2r.
by rewrite cj andbT orbC -le_eqVlt (le_trans hj) // e.
Qed.

Context d (T : measurableType d).
Variables (v : 'I_k.+1 -> T -> R) (mv : forall j, measurable_fun setT (v j)).

Lemma measurable_largest : measurable_fun setT (fun x => (largest (v ^~ x) : nat) : [the measurableType _ of (nat : Type)]).
Proof.
have less i j : measurable [set x | v i x < v j x].
  have -> : [set x | v i x < v j x] = setT `&` (fun x => v j x - v i x) @^-1` `]0, +oo[.
    by rewrite setTI; apply/seteqP; split=> x /=; rewrite in_itv /= andbT subr_gt0.
  by apply: measurable_funB => //; exact: measurable_itv.
have event c : measurable [set x | largest (v ^~ x) == c].
  have -> : [set x | largest (v ^~ x) == c] = \bigcap_(j in [set: 'I_k.+1])
      ([set x | v j x < v c x] `|` ~` ([set x | v c x < v j x] `|` [set x : T | (j < c)%N])).
    apply/seteqP; split=> x /=; rewrite largestP.
      move=> /forallP top j _ /=; case/orP: (top j) => [lt|/andP[/eqP e cj]]; [by left|right].
      by rewrite e ltxx ltnNge cj; case.
    move=> all; apply/forallP => j; have [lt|none] := all j I; first by rewrite lt.
    have [ge nlt] : ~~ (v c x < v j x) /\ ~~ (j < c)%N by split; apply/negP => h; apply: none; [left|right].
    by rewrite -leNgt le_eqVlt in ge; case/orP: ge => [/eqP->|->//]; rewrite eqxx leqNgt nlt orbT.
  apply: fin_bigcap_measurable => // j _; apply: measurableU; first exact: less.
  apply: measurableC; apply: measurableU; first exact: less.
  case: (j < c)%N; first by have -> : [set _ : T | true] = setT by apply/seteqP; split.
  by have -> : [set _ : T | false] = set0 by apply/seteqP; split.
move=> _ E _; rewrite setTI.
have -> : (fun x => (largest (v ^~ x) : nat) : [the measurableType _ of (nat : Type)]) @^-1` E =
    \bigcup_(c in [set c : 'I_k.+1 | E c]) [set x | largest (v ^~ x) == c].
  by apply/seteqP; split=> x /= => [h|[c Ec /eqP->] //]; exists (largest (v ^~ x)) => //=.
exact: fin_bigcup_measurable.
Qed.

End largest.

(* The two laws of noise. *)
Section noises.
Variables (R : realType) (lambda : R).
Hypothesis lambda0 : 0 < lambda.
Add Field reals : (real_field R).
Local Notation line := (line R).

Definition exponential_noise (x : line) : R := if 0 <= (x : R) then expR (- ((x : R) / lambda)) else 0.
Definition gumbel_noise (x : line) : R := expR (- ((x : R) / lambda) - expR (- ((x : R) / lambda))).

Lemma exponential_noise_ge0 x : 0 <= exponential_noise x.
Proof. by rewrite /exponential_noise; case: ifP => // _; exact/ltW/expR_gt0. Qed.

Lemma gumbel_noise_ge0 x : 0 <= gumbel_noise x. Proof. exact/ltW/expR_gt0. Qed.

Let measurable_decay : measurable_fun setT (fun x : R => expR (- (x / lambda))).
Proof.
rewrite (_ : (fun x => _) = @expR R \o (fun x : R => (- lambda^-1) * x)); last first.
  by apply/funext => x /=; rewrite mulNr mulrC.
apply: measurable_fun_comp; first by apply: continuous_measurable_fun; exact: continuous_expR.
by apply: measurable_funrM; exact: measurable_fun_id.
Qed.

Lemma measurable_exponential_noise : measurable_fun setT exponential_noise.
Proof.
have h : measurable_fun setT (fun x : R => \1_(`[0, +oo[%classic) x * expR (- (x / lambda))).
  by apply: measurable_funM => //; apply: measurable_fun_indic; exact: measurable_itv.
suff -> : exponential_noise = fun x : R => \1_(`[0, +oo[%classic) x * expR (- (x / lambda)) by exact: h.
apply/funext => x; rewrite /exponential_noise indicE; case: ifPn => [x0|/negP x0].
  by rewrite mem_set ?mul1r //= in_itv /= x0.
by rewrite memNset ?mul0r //= in_itv /= andbT.
Qed.

Lemma measurable_gumbel_noise : measurable_fun setT gumbel_noise.
Proof.
have h : measurable_fun setT (fun x : R => expR (- (x / lambda) - expR (- (x / lambda)))).
  apply: measurable_fun_comp; first by apply: continuous_measurable_fun; exact: continuous_expR.
  apply: measurable_funB => //; rewrite (_ : (fun x => _) = (fun x : R => (- lambda^-1) * x)); last first.
    by apply/funext => x; rewrite mulNr mulrC.
  by apply: measurable_funrM; exact: measurable_fun_id.
exact: h.
Qed.

(* Both fall by no more than the factor e^(t/lambda) over a distance t. *)
Lemma exponential_noise_slow (t x : R) : 0 <= t ->
  exponential_noise x <= expR (t / lambda) * exponential_noise (x + t).
Proof.
move=> t0; rewrite /exponential_noise; case: ifP => x0; last first.
  by case: ifP => _; rewrite ?mulr0 // mulr_ge0 // ltW ?expR_gt0.
by rewrite addr_ge0 // -expRD mulrDl opprD addrCA subrr addr0.
Qed.

Lemma gumbel_noise_slow (t x : R) : 0 <= t -> gumbel_noise x <= expR (t / lambda) * gumbel_noise (x + t).
Proof.
move=> t0; rewrite /gumbel_noise -expRD ler_expR mulrDl opprD addrA addrCA subrr addr0.
by rewrite ler_add2l ler_opp2 ler_expR ger_addl oppr_le0 divr_ge0 // ltW.
Qed.

Let below_laplace f : (forall x : line, 0 <= f x <= laplace_line lambda x) -> measurable_fun setT f ->
  (\int[length R]_x (f x)%:E < +oo)%E.
Proof.
move=> between mf; apply: le_lt_trans (laplace_line_finite lambda0); apply: ge0_le_integral => //.
- by move=> x _; rewrite lee_fin; case/andP: (between x).
- exact/EFin_measurable_fun.
- by move=> x _; rewrite lee_fin ltW // expR_gt0.
- by apply/EFin_measurable_fun; exact: measurable_laplace_line.
- by move=> x _; rewrite lee_fin; case/andP: (between x).
Qed.

Lemma exponential_noise_finite : (\int[length R]_x (exponential_noise x)%:E < +oo)%E.
Proof.
apply: below_laplace; last exact: measurable_exponential_noise.
move=> x; rewrite exponential_noise_ge0 /exponential_noise /laplace_line.
by case: ifP => x0; [rewrite ger0_norm //= lexx|rewrite /= ltW // expR_gt0].
Qed.

Lemma gumbel_noise_finite : (\int[length R]_x (gumbel_noise x)%:E < +oo)%E.
Proof.
apply: below_laplace; last exact: measurable_gumbel_noise.
move=> x; rewrite gumbel_noise_ge0 ler_expR; have [x0|x0] := lerP 0 (x : R).
  by rewrite ger0_norm // ler_subl_addr ler_addl ltW // expR_gt0.
rewrite ltr0_norm // mulNr opprK; set u := (x : R) / lambda.
(* e^v >= (1 + v/2)^2 >= 2 v *)
have u0 : 0 <= - (u / 2) by rewrite oppr_ge0 pmulr_lle0 ?invr_gt0 // pmulr_lle0 ?invr_gt0 // ltW.
have half : 0 <= 1 - u / 2 by rewrite addr_ge0.
have big : (1 - u / 2) ^+ 2 <= expR (- u).
  have -> : - u = - (u / 2) + - (u / 2) by rewrite -opprD -splitr.
  by rewrite expRD expr2; apply: ler_pmul => //; exact: expR_ge1Dx.
rewrite ler_subl_addr (le_trans _ (ler_add (lexx u) big)) // -subr_ge0.
have -> : u + (1 - u / 2) ^+ 2 - - u = (1 + u / 2) ^+ 2.
  by apply/eqP; rewrite -subr_eq0; apply/eqP; real_fields R.
exact: sqr_ge0.
Qed.

Let above_mass f (low : R) : 0 < low -> (forall x : R, 0 <= x <= 1 -> low <= f x) -> (forall x : line, 0 <= f x) ->
  measurable_fun setT f -> (0 < \int[length R]_x (f x)%:E)%E.
Proof.
move=> low0 above f0 mf; pose U : set line := [set` `[0 : R, 1]].
have mU : measurable U by exact: (@measurable_itv R).
apply: (@lt_le_trans _ _ (\int[length R]_(x in U) (f x)%:E)%E); last first.
  by apply: subset_integral => //; [exact/EFin_measurable_fun|move=> x _; rewrite lee_fin].
apply: (@lt_le_trans _ _ (\int[length R]_(x in U) (cst low%:E) x)%E).
  rewrite integral_cst //= lebesgue_measure_itv hlength_itv /= lte_fin ltr01 -EFinB -EFinM lte_fin.
  by rewrite subr0 mulr1.
apply: ge0_le_integral => //.
- by move=> x _; rewrite lee_fin ltW.
- exact: measurable_fun_cst.
- by move=> x _; rewrite lee_fin.
- by apply: measurable_funTS; exact/EFin_measurable_fun.
Qed.

Lemma exponential_noise_positive : (0 < \int[length R]_x (exponential_noise x)%:E)%E.
Proof.
apply: (above_mass (expR_gt0 (- lambda^-1))) => //; last exact: measurable_exponential_noise.
  move=> x /andP[x0 x1]; rewrite /exponential_noise x0 ler_expR ler_opp2.
  by rewrite ler_pdivr_mulr // mulVf // gt_eqF.
exact: exponential_noise_ge0.
Qed.

Lemma gumbel_noise_positive : (0 < \int[length R]_x (gumbel_noise x)%:E)%E.
Proof.
apply: (above_mass (expR_gt0 (- lambda^-1 - 1))) => //; last exact: measurable_gumbel_noise.
  move=> x /andP[x0 x1]; rewrite ler_expR; apply: ler_sub.
    by rewrite ler_opp2 ler_pdivr_mulr // mulVf // gt_eqF.
  by rewrite -[X in _ <= X]expR0 ler_expR oppr_le0 divr_ge0 // ltW.
exact: gumbel_noise_ge0.
Qed.

Definition exponential_law := proportional_law measurable_exponential_noise exponential_noise_ge0
  exponential_noise_finite exponential_noise_positive.
Definition gumbel_law := proportional_law measurable_gumbel_noise gumbel_noise_ge0
  gumbel_noise_finite gumbel_noise_positive.

Lemma exponential_law1 : exponential_law setT = 1%E.
Proof.
exact: (proportional_is_law measurable_exponential_noise exponential_noise_ge0 exponential_noise_finite exponential_noise_positive).
Qed.
Lemma gumbel_law1 : gumbel_law setT = 1%E.
Proof.
exact: (proportional_is_law measurable_gumbel_noise gumbel_noise_ge0 gumbel_noise_finite gumbel_noise_positive).
Qed.

Let slow_close (f : line -> R) (mf : measurable_fun setT f) (f0 : forall x, 0 <= f x)
    (fin : (\int[length R]_x (f x)%:E < +oo)%E) (pos : (0 < \int[length R]_x (f x)%:E)%E) (t : R) :
  (forall x : R, f x <= expR (t / lambda) * f (x + t)) ->
  close (t / lambda) 0 (moved (proportional_law mf f0 fin pos) t) (proportional_law mf f0 fin pos).
Proof.
move=> slow; apply: moved_close (proportional_density mf f0 fin pos) _ => x.
by rewrite mulrCA ler_wpmul2l // invr_ge0 fine_ge0 // ltW.
Qed.

Lemma exponential_moved (t : R) : 0 <= t -> close (t / lambda) 0 (moved exponential_law t) exponential_law.
Proof. by move=> t0; apply: slow_close => x; exact: exponential_noise_slow. Qed.

Lemma gumbel_moved (t : R) : 0 <= t -> close (t / lambda) 0 (moved gumbel_law t) gumbel_law.
Proof. by move=> t0; apply: slow_close => x; exact: gumbel_noise_slow. Qed.

End noises.

(* The mechanism: the place of the largest score, each with independent noise of the law nu. *)
Section drawn.
Variables (R : realType) (nu : {measure set (line R) -> \bar R}) (nu1 : nu setT = 1%E) (k : nat).
Local Notation vectors := (vectors R k.+1).
Local Notation places := [the measurableType _ of (nat : Type)].
Implicit Types (s : 'I_k.+1 -> R).

Definition noisy s (x : vectors) (j : 'I_k.+1) : R := s j + (x : 'rV[R]_k.+1) 0 j.

Lemma measurable_noisy s : measurable_fun setT (fun x : vectors => (largest (noisy s x) : nat) : places).
Proof.
apply: measurable_largest => j; apply: measurable_funD; first exact: measurable_fun_cst.
exact: measurable_coordinate.
Qed.

Definition drawn s : {measure set places -> \bar R} :=
  [the measure _ _ of pushforward (independent nu1 k.+1) (measurable_noisy s)].

Lemma drawn_is_law s : drawn s setT = 1%E.
Proof. exact: (independent_is_law nu1 k.+1). Qed.

(* Scores that move by at most M each, and noise that hides a move up by t >= 2 M. *)
Theorem noisy_maximum s s' (M t epsilon : R) : close epsilon 0 (moved nu t) nu ->
  (forall j, `|s j - s' j| <= M) -> 2 * M <= t -> close epsilon 0 (drawn s) (drawn s').
Proof.
move=> hides near two E _; rewrite adde0.
pose wins s c : set vectors := [set x | largest (noisy s x) == c].
have mwins u c : measurable (wins u c).
  have := measurable_noisy u measurableT (Y := [set (c : nat)]) I; rewrite setTI.
  rewrite (_ : _ @^-1` _ = wins u c) //; apply/seteqP; split=> x /=; first by move=> /val_inj/eqP.
  by rewrite /wins /= => /eqP->.
have events u : drawn u E = (\sum_(c \in [set c : 'I_k.+1 | E c]) independent nu1 k.+1 (wins u c))%E.
  have -> : drawn u E = independent nu1 k.+1 (\bigcup_(c in [set c : 'I_k.+1 | E c]) wins u c).
    rewrite -[LHS]/(independent nu1 k.+1 ((fun x : vectors => (largest (noisy u x) : nat) : places) @^-1` E)).
    congr (independent nu1 k.+1 _); apply/seteqP; split=> x /=; last by move=> [c Ec /eqP ->].
    by exists (largest (noisy u x)) => //=; rewrite /wins /=.
  apply: measure_fin_bigcup => //; first exact: finite_finset.
  by apply/trivIsetP => c c' _ _ cc'; apply/seteqP; split=> // x [/eqP h /eqP h']; move: cc'; rewrite -h -h' eqxx.
rewrite !events ge0_mule_fsumr //; apply: lee_fsum => [|c _]; first exact: finite_finset.
pose f (x : vectors) : vectors := x + t *: delta_mx 0 c.
have mf : measurable_fun setT f by exact: measurable_translation.
apply: (@le_trans _ _ (shifted (independent nu1 k.+1) (t *: delta_mx 0 c) (wins s' c))); last first.
  by have := independent_moved nu1 hides c (mwins s' c); rewrite adde0.
apply: le_measure; rewrite ?inE //; first by rewrite -[_ @^-1` _]setTI; exact: mf.
move=> x /= stays; have := @largest_stays _ _ (noisy s x) (noisy s' x) c M t _ two stays.
rewrite /wins /= (_ : (fun j => _) = noisy s' (f x)).
  by apply=> j; rewrite /noisy opprD addrACA subrr addr0.
apply/funext => j; rewrite /noisy /f !mxE eqxx /= -addrA; congr (_ + (_ + _)).
by case: (j == c); rewrite ?mulr1 ?mulr0.
Qed.

(* As a kernel, of scores that depend on what was released before. *)
Context d (Y : measurableType d).
Variables (scores : 'I_k.+1 -> Y -> R) (mscores : forall j, measurable_fun setT (scores j)).

Definition drawn_kernel : kernel R Y places.
Proof.
apply: (@Kernel _ _ _ _ _ (fun y => drawn (scores ^~ y))) => [y|E mE]; first exact: drawn_is_law.
have [mfst msnd] := (@prod_measurable_funP _ _ _ _ _ _ idfun).1
  (@measurable_fun_id _ [the measurableType _ of (Y * vectors)%type] setT).
have mF : measurable_fun setT (fun p : Y * vectors => (largest (noisy (scores ^~ p.1) p.2) : nat) : places).
  apply: (@measurable_largest R k _ [the measurableType _ of (Y * vectors)%type]
    (fun j p => noisy (scores ^~ p.1) p.2 j)) => j.
  apply: measurable_funD; first exact: (measurable_fun_comp (mscores j) mfst).
  exact: (measurable_fun_comp (@measurable_coordinate R k.+1 j) msnd).
have := mF measurableT E mE; rewrite setTI => {}mF.
have := measurable_sections (constant_kernel Y (independent_is_law nu1 k.+1)) mF.
rewrite (_ : (fun y => _) = fun y => drawn (scores ^~ y) E) //; apply/funext => y.
rewrite -[RHS]/(independent nu1 k.+1 ((fun x : vectors => (largest (noisy (scores ^~ y) x) : nat) : places) @^-1` E)).
rewrite -[LHS]/(independent nu1 k.+1 (xsection _ y)).
by congr (independent nu1 k.+1 _); apply/seteqP; split=> x; rewrite /xsection /= inE.
Defined.

Lemma drawn_kernelE y : drawn_kernel y = drawn (scores ^~ y).
Proof. by []. Qed.

End drawn.

(* Page Q1's and N6's: choices for many columns, one after the other, then a mechanism that knows them and sees rows that a
   public map encodes. *)
Section columns.
Variables (R : realType) (lambda : R) (lambda0 : 0 < lambda) (Z : Type) (n k : nat) (unit : R) (unit0 : 0 <= unit).
Local Notation table := ('I_n -> Z).
Local Notation places := [the measurableType _ of (nat : Type)].
Implicit Types (s : table -> 'I_k.+1 -> R) (S : table).

Definition largest_with_exponential_noise (v : 'I_k.+1 -> R) : {measure set places -> \bar R} :=
  drawn (exponential_law1 lambda0) v.

Inductive choices : forall d (Y : measurableType d), (table -> {measure set Y -> \bar R}) ->
    seq (table -> 'I_k.+1 -> R) -> Prop :=
  | Column s : choices (fun S => largest_with_exponential_noise (s S)) [:: s]
  | Columns d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) ss s : choices M ss ->
      choices (fun S => joint_law (M S) (constant_kernel Y (drawn_is_law (exponential_law1 lambda0) (s S)))) (s :: ss).

Definition sensitive s := forall S S' j, neighbours S S' -> `|s S j - s S' j| <= unit.

Lemma largest_private s : sensitive s -> private (2 * unit / lambda) 0 (fun S => largest_with_exponential_noise (s S)).
Proof.
move=> moves S S' adj; apply: (@noisy_maximum _ _ _ _ _ _ unit (2 * unit)) => [|j|//].
  by apply: exponential_moved; rewrite mulr_ge0 // ler0n.
exact: moves.
Qed.

Lemma choices_in_sequence d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) ss : choices M ss ->
  (forall i, (i < size ss)%N -> sensitive (nth (fun=> fun=> 0) ss i)) ->
  in_sequence M (nseq (size ss) (2 * unit / lambda, 0)).
Proof.
elim=> {d Y M ss} [s /(_ 0%N (leqnn _)) moves|d Y M ss s _ IH moves].
  apply: First; last exact: largest_private.
  by move=> S; exact: drawn_is_law.
apply: Next => //; first by apply: IH => i lt; exact: (moves i.+1).
by move=> y; apply: largest_private; exact: (moves 0%N).
Qed.

(* What is trained afterwards on rows that are encoded by what was chosen, with the curve of its own theorem. *)
Definition encoded_after (e : R) d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) :=
  forall (X : Type) (encode : Y -> Z -> X) d' (W : measurableType d') (N : Y -> ('I_n -> X) -> {measure set W -> \bar R})
    (K : table -> kernel R Y W) (curve : R -> R) epsilon,
    (forall c, 0 <= curve c) -> (forall y c, 0 <= c -> private c (curve c) (N y)) ->
    (forall S y, K S y = N y (fun i => encode y (S i))) -> e <= epsilon ->
    private epsilon (curve (epsilon - e)) (fun S => joint_law (M S) (K S)).

Theorem largest_noisy_scores d (Y : measurableType d) (M : table -> {measure set Y -> \bar R}) ss e :
  choices M ss -> (forall i, (i < size ss)%N -> sensitive (nth (fun=> fun=> 0) ss i)) ->
  2 * unit * (size ss)%:R <= e * lambda -> private e 0 M /\ encoded_after e M.
Proof.
move=> col moves scale; have seqM := choices_in_sequence col moves.
have paid : \sum_(p <- nseq (size ss) (2 * unit / lambda, 0 : R)) p.1 <= e.
  by rewrite big_nseq iter_addr_0 /= -mulr_natr mulrAC ler_pdivr_mulr //.
have free : \sum_(p <- nseq (size ss) (2 * unit / lambda, 0 : R)) p.2 = 0.
  by rewrite big_nseq iter_addr_0 mul0rn.
have pureM : private e 0 M.
  move=> S S' adj; have := N3_sequences seqM adj; rewrite free; exact: close_weaken paid (lexx _).
split=> // X encode d' W N K curve epsilon curve0 closeN encoded le.
apply: (N3_pure_first (sequence_is_law seqM) curve0 pureM) => // y c c0 S S' [i same] E mE.
by rewrite !encoded; apply: (closeN y c c0) => //; exists i => j ji; rewrite same.
Qed.

End columns.
