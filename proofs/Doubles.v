(* Doubles, over Coq's own real numbers and Flocq: what one rounding of binary64 costs (page A4, "Model of arithmetic";
   page M4). Rounding is to nearest, ties to even, with gradual underflow; that results are finite is asked for. *)

From Coq Require Import Reals Lra Lia.
From Flocq Require Import Core Relative Plus_error Div_sqrt_error BinarySingleNaN.

Open Scope R_scope.

Definition exponents := FLT_exp (-1074) 53.
Definition double (x : R) := generic_format radix2 exponents x.
Definition rounded (x : R) := round radix2 exponents ZnearestE x.

(* The unit roundoff 2^-53, and half of the smallest double, 2^-1075: what gradual underflow may cost. *)
Definition u := bpow radix2 (-53).
Definition tiny := bpow radix2 (-1075).

#[local] Instance precision_gt0 : Prec_gt_0 53 := eq_refl.
#[local] Instance precision_lt_emax : Prec_lt_emax 53 1024 := eq_refl.
#[local] Instance exponents_valid : Valid_exp exponents := FLT_exp_valid (-1074) 53.

Lemma u_value : u = / 9007199254740992.
Proof. reflexivity. Qed.

Lemma u_gt0 : 0 < u.
Proof. apply bpow_gt_0. Qed.

Lemma tiny_gt0 : 0 < tiny.
Proof. apply bpow_gt_0. Qed.

Lemma half_ulp_one : u_ro radix2 53 = u.
Proof. unfold u_ro, u; rewrite bpow_plus_1; simpl; lra. Qed.

Lemma half_smallest : / 2 * bpow radix2 (-1074) = tiny.
Proof.
unfold tiny; replace (-1074)%Z with (-1075 + 1)%Z by reflexivity.
rewrite bpow_plus_1; change (IZR radix2) with 2; lra.
Qed.

Lemma half_share : u_ro radix2 53 / (1 + u_ro radix2 53) <= u.
Proof. rewrite <- half_ulp_one; apply u_rod1pu_ro_le_u_ro. Qed.

Lemma rounded_double x : double (rounded x).
Proof. apply generic_format_round; auto with typeclass_instances. Qed.

Lemma double_zero : double 0.
Proof. apply generic_format_0. Qed.

Lemma double_opp x : double x -> double (- x).
Proof. apply generic_format_opp. Qed.

Lemma rounded_le x y : x <= y -> rounded x <= rounded y.
Proof. apply round_le; auto with typeclass_instances. Qed.

Lemma rounded_exact x : double x -> rounded x = x.
Proof. apply round_generic; auto with typeclass_instances. Qed.

Lemma rounded_ge0 x : 0 <= x -> 0 <= rounded x.
Proof. intros x0; rewrite <- (rounded_exact 0 double_zero); now apply rounded_le. Qed.

(* Any result: a relative u, and 2^-1075. *)
Theorem rounding_error x : Rabs (rounded x - x) <= u * Rabs x + tiny.
Proof.
destruct (relative_error_N_FLT'_ex radix2 (-1074) 53 eq_refl (fun n => negb (Z.even n)) x)
  as (d & e & hd & he & _ & eq).
rewrite half_smallest in he; unfold rounded, exponents; rewrite eq.
replace (x * (1 + d) + e - x) with (d * x + e) by ring.
refine (Rle_trans _ _ _ (Rabs_triang _ _) _); rewrite Rabs_mult; apply Rplus_le_compat; [|exact he].
apply Rmult_le_compat_r; [apply Rabs_pos|]; exact (Rle_trans _ _ _ hd half_share).
Qed.

(* Results from 2^-1022 on: a relative u alone. *)
Theorem rounding_error_normal x : bpow radix2 (-1022) <= Rabs x -> Rabs (rounded x - x) <= u * Rabs x.
Proof.
intros large.
destruct (relative_error_N_FLT_ex radix2 (-1074) 53 eq_refl (fun n => negb (Z.even n)) x) as (d & hd & e).
  exact large.
unfold rounded, exponents; rewrite e; replace (x * (1 + d) - x) with (d * x) by ring.
rewrite Rabs_mult; apply Rmult_le_compat_r; [apply Rabs_pos|].
refine (Rle_trans _ _ _ hd _); rewrite <- half_ulp_one; unfold u_ro; simpl; lra.
Qed.

(* Sums do not underflow: whatever is lost is a relative u. *)
Theorem sum_error x y : double x -> double y -> Rabs (rounded (x + y) - (x + y)) <= u * Rabs (x + y).
Proof.
intros dx dy.
destruct (FLT_plus_error_N_ex radix2 (-1074) 53 (fun n => negb (Z.even n)) x y dx dy) as (d & hd & e).
unfold rounded, exponents; rewrite e; replace ((x + y) * (1 + d) - (x + y)) with (d * (x + y)) by ring.
rewrite Rabs_mult; apply Rmult_le_compat_r; [apply Rabs_pos|]; exact (Rle_trans _ _ _ hd half_share).
Qed.

(* Nor do roots. *)
Theorem root_error x : double x -> Rabs (rounded (sqrt x) - sqrt x) <= u * sqrt x.
Proof.
intros dx.
assert (small : (-1074 <= 2 * (1 - 53))%Z) by lia.
destruct (sqrt_error_N_FLT_ex radix2 53 (fun n => negb (Z.even n)) (eq_refl : (1 < 53)%Z) (-1074) small x dx) as (d & hd & e).
unfold rounded, exponents; rewrite e; replace (sqrt x * (1 + d) - sqrt x) with (d * sqrt x) by ring.
rewrite Rabs_mult, (Rabs_pos_eq (sqrt x)) by apply sqrt_pos.
apply Rmult_le_compat_r; [apply sqrt_pos|]; refine (Rle_trans _ _ _ hd _).
rewrite half_ulp_one; generalize u_gt0; set (v := u); intros v0.
assert (r0 : 0 < sqrt (1 + 2 * v)) by (apply sqrt_lt_R0; lra).
assert (r : sqrt (1 + 2 * v) <= 1 + v).
  rewrite <- (sqrt_Rsqr (1 + v)) by lra; apply sqrt_le_1_alt; unfold Rsqr; nra.
assert (1 - v <= 1 / sqrt (1 + 2 * v)); [|lra].
apply (Rmult_le_reg_r _ _ _ r0); unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra.
nra.
Qed.

(* The operations of IEEE 754 are these, as long as their results are finite. *)
Section operations.
Notation binary64 := (binary_float 53 1024).
Notation value := (@B2R 53 1024).
Implicit Types x y z : binary64.

Lemma value_double x : double (value x).
Proof. apply generic_format_B2R. Qed.

Lemma overflow_not_finite (s : bool) (x : binary64) : B2SF x = binary_overflow 53 1024 mode_NE s -> is_finite x = false.
Proof. now destruct x. Qed.

Ltac finite correct := generalize correct; case Rlt_bool; [now intros (e & _)|];
  intros overflow finite; rewrite (overflow_not_finite _ _ overflow) in finite; discriminate.

Theorem binary64_plus x y : is_finite x = true -> is_finite y = true -> is_finite (Bplus mode_NE x y) = true ->
  value (Bplus mode_NE x y) = rounded (value x + value y).
Proof.
intros fx fy; generalize (Bplus_correct 53 1024 _ _ mode_NE x y fx fy); case Rlt_bool; [now intros (e & _)|].
intros (overflow & _) finite; rewrite (overflow_not_finite _ _ overflow) in finite; discriminate.
Qed.

Theorem binary64_mult x y : is_finite (Bmult mode_NE x y) = true ->
  value (Bmult mode_NE x y) = rounded (value x * value y).
Proof. finite (Bmult_correct 53 1024 _ _ mode_NE x y). Qed.

Theorem binary64_div x y : value y <> 0 -> is_finite (Bdiv mode_NE x y) = true ->
  value (Bdiv mode_NE x y) = rounded (value x / value y).
Proof. intros y0; finite (Bdiv_correct 53 1024 _ _ mode_NE x y y0). Qed.

Theorem binary64_fma x y z : is_finite x = true -> is_finite y = true -> is_finite z = true ->
  is_finite (Bfma mode_NE x y z) = true -> value (Bfma mode_NE x y z) = rounded (value x * value y + value z).
Proof.
intros fx fy fz; generalize (Bfma_correct 53 1024 _ _ mode_NE x y z fx fy fz); cbv zeta.
case Rlt_bool; [now intros (e & _)|].
intros overflow finite; rewrite (overflow_not_finite _ _ overflow) in finite; discriminate.
Qed.

Theorem binary64_sqrt x : value (Bsqrt mode_NE x) = rounded (sqrt (value x)).
Proof. apply Bsqrt_correct. Qed.

End operations.
