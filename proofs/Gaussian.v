(* Page D3 in one dimension: what exceeds the ratio of two normal densities, integrated, in closed form; over Coq's own reals,
   by Coquelicot. *)

From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

Definition phi (x : R) := exp (- (x * x) / 2) / sqrt (2 * PI).

Lemma root_gt0 : 0 < sqrt (2 * PI).
Proof. apply sqrt_lt_R0; generalize PI_RGT_0; lra. Qed.

Lemma phi_gt0 x : 0 < phi x.
Proof. apply Rdiv_lt_0_compat; [apply exp_pos|apply root_gt0]. Qed.

Lemma continuous_phi x : continuous phi x.
Proof.
apply (ex_derive_continuous (V := R_NormedModule)); unfold phi; auto_derive; generalize root_gt0; lra.
Qed.

(* The upper tail of the normal law: Phi(-x). *)
Definition normal_tail (tail : R -> R) := forall x, is_RInt_gen phi (at_point x) (Rbar_locally p_infty) (tail x).

Definition upper_tail x := RInt_gen phi (at_point x) (Rbar_locally p_infty).

Lemma phi_integrable a b : ex_RInt phi a b.
Proof. apply (ex_RInt_continuous (V := R_CompleteNormedModule)); intros; apply continuous_phi. Qed.

(* It exists: phi is at most e^(1/2 - x), whose integrals are bounded. *)
Theorem normal_tail_exists : normal_tail upper_tail.
Proof.
intros x; unfold upper_tail; apply (RInt_gen_correct (V := R_CompleteNormedModule)).
pose (C := / sqrt (2 * PI)); assert (C0 : 0 < C) by (apply Rinv_0_lt_compat, root_gt0).
pose (bound := fun t => C * exp (1 / 2 - t)).
assert (below : forall t, phi t <= bound t).
  intros t; unfold phi, bound, Rdiv; rewrite Rmult_comm; apply Rmult_le_compat_l; [apply Rlt_le; exact C0|].
  assert (e : - (t * t) * / 2 <= 1 * / 2 - t) by (generalize (Rle_0_sqr (t - 1)); unfold Rsqr; lra).
  destruct e as [e|e]; [left; now apply exp_increasing|right; now rewrite e].
assert (whole : forall b, is_RInt bound x b (minus (- C * exp (1 / 2 - b)) (- C * exp (1 / 2 - x)))).
  intros b; apply (is_RInt_derive (V := R_CompleteNormedModule) (fun t => - C * exp (1 / 2 - t)) bound).
    intros t _; unfold bound; auto_derive; [trivial|unfold Rminus; ring].
  intros t _; apply (ex_derive_continuous (V := R_NormedModule)); unfold bound; auto_derive; trivial.
assert (increasing : forall b c, b <= c -> RInt phi x b <= RInt phi x c).
  intros b c h; rewrite <- (RInt_Chasles phi x b c) by apply phi_integrable.
  assert (0 <= RInt phi b c).
    apply RInt_ge_0; [exact h|apply phi_integrable|]; intros; apply Rlt_le, phi_gt0.
  unfold plus; simpl; lra.
pose (reached := fun y => exists b, x <= b /\ y = RInt phi x b).
destruct (completeness reached) as [l [upper least]].
- exists (C * exp (1 / 2 - x)); intros y (b & h & ->).
  apply Rle_trans with (RInt bound x b).
    apply RInt_le; [exact h|apply phi_integrable|eexists; apply whole|]; intros; apply below.
  rewrite (is_RInt_unique _ _ _ _ (whole b)); unfold minus, plus, opp; simpl.
  assert (0 <= C * exp (1 / 2 - b)) by (apply Rmult_le_pos; [lra|apply Rlt_le, exp_pos]); lra.
- exists (RInt phi x x), x; split; [lra|reflexivity].
exists l; intros P [eps near].
assert (exists b, x <= b /\ l - eps < RInt phi x b) as (b & xb & hb).
{ destruct (Classical_Prop.classic (exists b, x <= b /\ l - eps < RInt phi x b)) as [h|h]; [exact h|exfalso].
  assert (l <= l - eps); [|generalize (cond_pos eps); lra].
  apply least; intros y (b & xb & ->); apply Rnot_lt_le; intros lt; apply h; now exists b. }
exists (fun a => a = x) (fun c => b < c); [reflexivity|exists b; tauto|].
intros a c -> hc; exists (RInt phi x c); split; [apply (RInt_correct (V := R_CompleteNormedModule)), phi_integrable|].
apply near; assert (h := increasing b c (Rlt_le _ _ hc)); assert (RInt phi x c <= l) by (apply upper; exists c; split; [lra|reflexivity]).
unfold ball; simpl; unfold AbsRing_ball, abs, minus, plus, opp; simpl; apply Rabs_def1; generalize (cond_pos eps); lra.
Qed.

(* The upper tail at x is the lower tail at -x. *)
Theorem normal_tail_symmetric x : is_RInt_gen phi (Rbar_locally m_infty) (at_point (- x)) (upper_tail x).
Proof.
intros P near; destruct (normal_tail_exists x P near) as [A B atx [M far] all].
exists (fun a => a < - M) (fun b => b = - x); [exists (- M); tauto|reflexivity|].
intros a b ha ->; destruct (all x (- a) atx) as (y & hy & Py); [apply far; lra|]; simpl in *.
exists y; split; [|exact Py]; apply is_RInt_swap in hy.
assert (h : is_RInt (fun z => scal (- 1) (phi (- 1 * z + 0))) a (- x) (opp y)).
  apply (is_RInt_comp_lin phi (- 1) 0 a (- x)).
  replace (- 1 * a + 0) with (- a) by ring; replace (- 1 * - x + 0) with x by ring; exact hy.
apply is_RInt_opp in h; rewrite opp_opp in h; apply is_RInt_ext with (2 := h); intros z _.
unfold opp, scal; simpl; unfold mult; simpl; unfold phi; replace (- 1 * z + 0) with (- z) by ring.
replace (- z * - z) with (z * z) by ring; ring.
Qed.

Lemma derive_tail x : is_derive upper_tail x (- phi x).
Proof.
assert (e : forall y, RInt phi y 0 + upper_tail 0 = upper_tail y).
  intros y; symmetry; apply (is_RInt_gen_unique (V := R_CompleteNormedModule)).
  apply (is_RInt_gen_Chasles (V := R_CompleteNormedModule)) with 0; [|apply normal_tail_exists].
  apply is_RInt_gen_at_point, (RInt_correct (V := R_CompleteNormedModule)), phi_integrable.
apply (is_derive_ext (V := R_NormedModule)) with (1 := e).
replace (- phi x) with (plus (opp (phi x)) zero) by (unfold plus, opp, zero; simpl; ring).
apply (is_derive_plus (V := R_NormedModule)); [|apply (is_derive_const (V := R_NormedModule))].
apply (is_derive_RInt' (V := R_NormedModule) phi (fun y => RInt phi y 0) x 0); [|apply continuous_phi].
exists (mkposreal _ Rlt_0_1); intros; apply (RInt_correct (V := R_CompleteNormedModule)), phi_integrable.
Qed.

Section closed.
Variables (mu epsilon : R).
Hypothesis mu0 : 0 < mu.

(* Normal laws of deviation 1 around mu and around 0. *)
Definition excess x := Rmax (phi (x - mu) - exp epsilon * phi x) 0.

(* Where the loss is epsilon. *)
Definition edge := epsilon / mu + mu / 2.

Lemma phi_shifted x : phi (x - mu) = exp (mu * (x - mu / 2)) * phi x.
Proof.
unfold phi, Rdiv; rewrite <- Rmult_assoc, <- exp_plus; f_equal; f_equal; field.
Qed.

Lemma beyond_edge x : edge <= x -> excess x = phi (x - mu) - exp epsilon * phi x.
Proof.
intros h; unfold excess; apply Rmax_left; rewrite phi_shifted.
assert (exp epsilon <= exp (mu * (x - mu / 2))).
  assert (e : epsilon <= mu * (x - mu / 2)).
    replace epsilon with (mu * (edge - mu / 2)) by (unfold edge; field; lra); apply Rmult_le_compat_l; lra.
  destruct e as [e|e]; [left; now apply exp_increasing|rewrite e; lra].
assert (p := phi_gt0 x); assert (exp epsilon * phi x <= exp (mu * (x - mu / 2)) * phi x) by (apply Rmult_le_compat_r; lra).
lra.
Qed.

Lemma before_edge x : x <= edge -> excess x = 0.
Proof.
intros h; unfold excess; apply Rmax_right; rewrite phi_shifted.
assert (exp (mu * (x - mu / 2)) <= exp epsilon).
  assert (e : mu * (x - mu / 2) <= epsilon).
    replace epsilon with (mu * (edge - mu / 2)) by (unfold edge; field; lra); apply Rmult_le_compat_l; lra.
  destruct e as [e|e]; [left; now apply exp_increasing|rewrite e; lra].
assert (p := phi_gt0 x); assert (exp (mu * (x - mu / 2)) * phi x <= exp epsilon * phi x) by (apply Rmult_le_compat_r; lra).
lra.
Qed.

Lemma shifted_tail x : is_RInt_gen (fun y => phi (y - mu)) (at_point x) (Rbar_locally p_infty) (upper_tail (x - mu)).
Proof.
intros P near; destruct (normal_tail_exists (x - mu) P near) as [A B atx [M far] all].
exists (fun a => a = x) (fun b => M + mu < b); [reflexivity|exists (M + mu); tauto|].
intros a b -> hb; destruct (all (x - mu) (b - mu) atx) as (y & hy & Py); [apply far; lra|].
exists y; split; [|exact Py]; simpl in *.
assert (h : is_RInt (fun z => scal 1 (phi (1 * z + - mu))) x b y).
  apply (is_RInt_comp_lin phi 1 (- mu) x b y).
  replace (1 * x + - mu) with (x - mu) by ring; replace (1 * b + - mu) with (b - mu) by ring; exact hy.
apply is_RInt_ext with (2 := h); intros z _; unfold scal; simpl; unfold mult; simpl; rewrite Rmult_1_l; f_equal; ring.
Qed.

(* The integral of the excess: 0 up to the edge, and from there on the page's formula. *)
Theorem D3_closed : (forall x, x <= edge -> excess x = 0) /\
  is_RInt_gen excess (at_point edge) (Rbar_locally p_infty)
    (upper_tail (epsilon / mu - mu / 2) - exp epsilon * upper_tail (epsilon / mu + mu / 2)).
Proof.
split; [exact before_edge|].
apply is_RInt_gen_ext with (fun x => minus (phi (x - mu)) (scal (exp epsilon) (phi x))).
  exists (fun a => a = edge) (fun b => edge < b); [reflexivity|exists edge; tauto|].
  intros a b -> hb x; simpl; rewrite Rmin_left, Rmax_right by lra; intros h.
  rewrite beyond_edge by lra; reflexivity.
apply (is_RInt_gen_minus (V := R_NormedModule)).
  replace (epsilon / mu - mu / 2) with (edge - mu) by (unfold edge; field; lra); apply shifted_tail.
apply (is_RInt_gen_scal (V := R_NormedModule)); exact (normal_tail_exists edge).
Qed.

End closed.

(* It grows with the distance. *)
Definition gaussian_delta epsilon mu := upper_tail (epsilon / mu - mu / 2) - exp epsilon * upper_tail (epsilon / mu + mu / 2).

Theorem D3_grows epsilon mu mu' : 0 < mu -> mu < mu' -> gaussian_delta epsilon mu < gaussian_delta epsilon mu'.
Proof.
intros mu0 lt; apply (incr_function (gaussian_delta epsilon) 0 p_infty (fun m => phi (epsilon / m - m / 2))); simpl; try easy.
  intros m m0 _; unfold gaussian_delta.
  pose (u := fun m => epsilon / m - m / 2); pose (v := fun m => epsilon / m + m / 2).
  assert (du : is_derive u m (- epsilon / (m * m) - 1 / 2)) by (unfold u; auto_derive; [lra|field; lra]).
  assert (dv : is_derive v m (- epsilon / (m * m) + 1 / 2)) by (unfold v; auto_derive; [lra|field; lra]).
  assert (tu := is_derive_comp upper_tail u m _ _ (derive_tail (u m)) du).
  assert (tv := is_derive_scal _ m (exp epsilon) _ (is_derive_comp upper_tail v m _ _ (derive_tail (v m)) dv)).
  assert (both := is_derive_minus _ _ m _ _ tu tv).
  assert (e : exp epsilon * phi (v m) = phi (u m)).
    replace (u m) with (v m - m) by (unfold u, v; field; lra); rewrite phi_shifted; f_equal; f_equal.
    unfold v; field; lra.
  replace (phi (epsilon / m - m / 2)) with (phi (u m)) by reflexivity.
  match type of both with is_derive _ _ ?d => replace (phi (u m)) with d; [exact both|] end.
  unfold minus, plus, opp, scal; simpl; unfold mult; simpl.
  rewrite <- e; field; lra.
intros m _ _; apply phi_gt0.
Qed.
