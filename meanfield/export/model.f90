@HEADER@
MODULE MODEL
  IMPLICIT NONE
  ! Moments of a state that are unknown, moments that a state has, and coefficients of the confinement.
  INTEGER, PARAMETER :: N = @N@, RESOLVED = @RESOLVED@, FORCES = @FORCES@
  ! The circle is in dimension 2; UNEVEN: the sine moments follow behind those of the cosines.
  INTEGER, PARAMETER :: D = @D@
  LOGICAL, PARAMETER :: UNEVEN = @UNEVEN@
  ! Directions about the axis; one for densities about it.
  INTEGER, PARAMETER :: AROUND = @AROUND@
  ! Parameters, and the number of that which is unknown on a line of equal free energy.
  INTEGER, PARAMETER :: PARAMETERS = @PARAMETERS@, SECOND = @SECOND@
  ! Axes about which states may be turned; the change of U(INTO) by that about ABOUT is RATES*U(FROM).
  INTEGER, PARAMETER :: AXES = @AXES@
  ! The unknowns of a state, and waves that are needed.
  INTEGER, PARAMETER :: STATES = @STATES@, TOP = MAX(2*N, @FARTHEST@)
  INTEGER, PARAMETER :: TERMS = N + MERGE(2*FORCES, FORCES, UNEVEN)
  DOUBLE PRECISION, PARAMETER :: PI = 3.141592653589793D0
  DOUBLE PRECISION, ALLOCATABLE :: WAVES(:,:), SINES(:,:), BASE(:), DEPTH(:)
  ! The functions at the nodes whose means are the unknowns, and those of which the confinement consists.
  DOUBLE PRECISION, ALLOCATABLE :: SHAPES(:,:), PARTS(:,:)
  ! Multipliers, and the confinement at the nodes, with their derivatives in the parameters behind the noise.
  DOUBLE PRECISION :: W(STATES), DW(STATES,3:PARAMETERS), KNOWN_AT(3:PARAMETERS)
  DOUBLE PRECISION, ALLOCATABLE :: V(:), DV(:,:)
@TABLES@
CONTAINS

  SUBROUTINE PREPARE(PAR)
    DOUBLE PRECISION, INTENT(IN) :: PAR(PARAMETERS)
    DOUBLE PRECISION :: C(TERMS), DC(TERMS,3:PARAMETERS)
    INTEGER :: I
    IF (ALLOCATED(BASE)) THEN
      IF (ALL(PAR(3:) == KNOWN_AT)) RETURN
    ELSE
      CALL QUADRATURE
    END IF
    KNOWN_AT = PAR(3:)
    CALL COEFFICIENTS(PAR, C, DC)
    W = C(DEGREES)
    DW = DC(DEGREES,:)
    V = MATMUL(PARTS, C(N+1:N+FORCES))
    DV = MATMUL(PARTS, DC(N+1:N+FORCES,:))
    IF (.NOT. UNEVEN) RETURN
    I = TERMS - FORCES
    V = V + MATMUL(SINES(:,1:FORCES), C(I+1:))
    DV = DV + MATMUL(SINES(:,1:FORCES), DC(I+1:,:))
  END SUBROUTINE PREPARE

  SUBROUTINE QUADRATURE
    ! Angles with the weight sin(angle)^(D-2), as BASE EXP(DEPTH); BASE sums to 1 together with it.
    INTEGER :: I, J, K, LAST
    DOUBLE PRECISION, ALLOCATABLE :: ANGLE(:), AZIMUTH(:)
    LAST = 2*RESOLVED + 32 + MERGE(0, D, D == 2)
    IF (UNEVEN) THEN
      ANGLE = [(PI*I/LAST, I = 1, 2*LAST)]
    ELSE
      ANGLE = [(PI*I/LAST, I = 0, LAST)]
    END IF
    ALLOCATE(BASE(SIZE(ANGLE)), DEPTH(SIZE(ANGLE)))
    BASE = 1
    IF (MOD(D, 2) == 1) THEN
      ! Clenshaw and Curtis: the integrals of cos(k angle) sin(angle) are 2/(1 - k^2) for even k, else 0.
      DO K = 2, LAST, 2
        BASE = BASE + MERGE(1, 2, K == LAST)*COS(K*ANGLE)/(1 - DBLE(K)**2)
      END DO
    END IF
    DEPTH = 0
    IF (D > 3) THEN
      DEPTH = (D - 2 - MOD(D, 2))*LOG(MAX(SIN(ANGLE), 1D-16))
      DEPTH([1, SIZE(ANGLE)]) = -1D300
    END IF
    IF (.NOT. UNEVEN) BASE([1, SIZE(ANGLE)]) = BASE([1, SIZE(ANGLE)])/2
    BASE = BASE/SUM(BASE*EXP(DEPTH))
    LAST = SIZE(ANGLE)
    AZIMUTH = [((2*PI*(I - 1)/AROUND, J = 1, LAST), I = 1, AROUND)]
    ANGLE = [(ANGLE, I = 1, AROUND)]
    BASE = [(BASE/AROUND, I = 1, AROUND)]
    DEPTH = [(DEPTH, I = 1, AROUND)]
    ALLOCATE(WAVES(SIZE(ANGLE),0:TOP), SINES(SIZE(ANGLE),0:TOP), SHAPES(SIZE(ANGLE),STATES))
    ALLOCATE(V(SIZE(ANGLE)), DV(SIZE(ANGLE),3:PARAMETERS), PARTS(SIZE(ANGLE),FORCES))
    WAVES(:,0) = 1
    SINES = 0
    DO K = 1, TOP
      IF (D == 2) THEN
        WAVES(:,K) = COS(K*ANGLE)
        SINES(:,K) = SIN(K*ANGLE)
      ELSE IF (K == 1) THEN
        WAVES(:,1) = COS(ANGLE)
      ELSE
        WAVES(:,K) = ((2*K + D - 4)*COS(ANGLE)*WAVES(:,K-1) - (K - 1)*WAVES(:,K-2))/(K + D - 3)
      END IF
    END DO
    SHAPES = 0
@SHAPES@
    PARTS = 0
@PARTS@
  END SUBROUTINE QUADRATURE

  SUBROUTINE ADD_HARMONICS(SUMS, ANGLE, AZIMUTH, MODES, LEVELS, ORDERS, SIZES)
    ! Add to SUMS(:,MODES) harmonics of degrees LEVELS, with cosines of ORDERS of the azimuth or, of negative
    ! ones, sines: of unit size at the pole of order zero, and of the same mean square.
    DOUBLE PRECISION, INTENT(INOUT) :: SUMS(:,:)
    DOUBLE PRECISION, INTENT(IN) :: ANGLE(:), AZIMUTH(:), SIZES(:)
    INTEGER, INTENT(IN) :: MODES(:), LEVELS(:), ORDERS(:)
    DOUBLE PRECISION, DIMENSION(SIZE(ANGLE)) :: BEFORE, VALUE, NEXT
    INTEGER :: E, L, M
    DO E = 1, SIZE(SIZES)
      M = ABS(ORDERS(E))
      VALUE = MERGE(1D0, SQRT(2D0), M == 0)
      DO L = 1, M
        VALUE = VALUE*SIN(ANGLE)*SQRT((2*L - 1)/(2D0*L))
      END DO
      BEFORE = 0
      DO L = M, LEVELS(E) - 1
        NEXT = ((2*L + 1)*COS(ANGLE)*VALUE - SQRT(DBLE(L**2 - M**2))*BEFORE)/SQRT(DBLE((L + 1)**2 - M**2))
        BEFORE = VALUE
        VALUE = NEXT
      END DO
      IF (ORDERS(E) < 0) THEN
        VALUE = VALUE*SIN(M*AZIMUTH)
      ELSE
        VALUE = VALUE*COS(M*AZIMUTH)
      END IF
      SUMS(:,MODES(E)) = SUMS(:,MODES(E)) + SIZES(E)*VALUE
    END DO
  END SUBROUTINE ADD_HARMONICS

  SUBROUTINE COEFFICIENTS(PAR, C, DC)
    ! Multipliers of the interaction, then coefficients of the confinement: cosines, and sines if UNEVEN.
    DOUBLE PRECISION, INTENT(IN) :: PAR(PARAMETERS)
    DOUBLE PRECISION, INTENT(OUT) :: C(TERMS), DC(TERMS,3:PARAMETERS)
    C = FIXED
    DC = 0
@COEFFICIENTS@
  END SUBROUTINE COEFFICIENTS

  SUBROUTINE EXPONENTIAL(BETA, C, DC)
    ! The multipliers -N_l a_l/BETA of -exp(BETA u)/BETA, exp(BETA u) = sum_l N_l a_l P_l(u), and their derivatives:
    ! a_(l-1) = a_(l+1) + (2l + D - 2)/BETA a_l (DLMF 10.29.1), downwards as ratios, and sum_l N_l a_l = exp(BETA).
    DOUBLE PRECISION, INTENT(IN) :: BETA
    DOUBLE PRECISION, INTENT(INOUT) :: C(TERMS), DC(TERMS)
    DOUBLE PRECISION :: RATIO, X
    DOUBLE PRECISION, ALLOCATABLE :: A(:), NUMBERS(:)
    INTEGER :: L, LAST
    X = ABS(BETA)
    LAST = N + 40 + CEILING(2*X)
    ALLOCATE(A(0:LAST), NUMBERS(0:LAST))
    RATIO = 0
    DO L = LAST, 1, -1
      RATIO = 1/((2*L + D - 2)/X + RATIO)
      A(L) = RATIO
    END DO
    A(0) = 1
    NUMBERS(0:1) = [1, D]
    DO L = 1, LAST
      A(L) = A(L)*A(L-1)
      IF (L > 1) NUMBERS(L) = NUMBERS(L-1)*(2*L + D - 2)*(L + D - 3)/((2*L + D - 4)*DBLE(L))
    END DO
    IF (D == 2) NUMBERS(1:) = 2
    A = A*EXP(X)/SUM(A*NUMBERS)
    DO L = 1, N
      C(L) = -NUMBERS(L)*A(L)/X
      DC(L) = -NUMBERS(L)*(A(L+1) + (L - 1)/X*A(L))/X
      IF (BETA < 0) C(L) = -(-1)**L*C(L)
      IF (BETA < 0) DC(L) = (-1)**L*DC(L)
    END DO
  END SUBROUTINE EXPONENTIAL

  SUBROUTINE TABULATED(NAME, X, ANYWHERE, BREAKS, PLACES, TABLE, C, DC)
    ! Add Chebyshev series on pieces between breaks to coefficients at places, and their derivatives.
    CHARACTER(*), INTENT(IN) :: NAME
    LOGICAL, INTENT(IN) :: ANYWHERE
    DOUBLE PRECISION, INTENT(IN) :: X, BREAKS(:), TABLE(:,:,:)
    INTEGER, INTENT(IN) :: PLACES(:)
    DOUBLE PRECISION, INTENT(INOUT) :: C(TERMS), DC(TERMS)
    DOUBLE PRECISION :: T(SIZE(TABLE, 1)), SLOPE(SIZE(TABLE, 1)), Z, WIDTH
    INTEGER :: K, PIECE
    IF (.NOT. ANYWHERE .AND. (X < BREAKS(1) .OR. X > BREAKS(SIZE(BREAKS)))) THEN
      WRITE(*,*) NAME, ' = ', X, ' is outside of the table of its multipliers from ', BREAKS(1), ' to ', &
        BREAKS(SIZE(BREAKS)), ': export a diagram or a curve over a wider range'
      STOP
    END IF
    PIECE = MAX(1, COUNT(BREAKS(:SIZE(BREAKS)-1) <= X))
    WIDTH = BREAKS(PIECE+1) - BREAKS(PIECE)
    Z = ((X - BREAKS(PIECE)) + (X - BREAKS(PIECE+1)))/WIDTH
    T(1:2) = [1D0, Z]
    SLOPE(1:2) = [0D0, 1D0]
    DO K = 3, SIZE(T)
      T(K) = 2*Z*T(K-1) - T(K-2)
      SLOPE(K) = 2*T(K-1) + 2*Z*SLOPE(K-1) - SLOPE(K-2)
    END DO
    C(PLACES) = C(PLACES) + MATMUL(T, TABLE(:,:,PIECE))
    DC(PLACES) = DC(PLACES) + MATMUL(SLOPE, TABLE(:,:,PIECE))*2/WIDTH
  END SUBROUTINE TABULATED

  SUBROUTINE STATE(S, U, PAR, IJAC, F, DFDU, DFDP, ENERGY, DEDP)
    ! Means minus moments of one state, its free energy over the noise, and their derivatives; that of the free
    ! energy in U(k) is PAR(1)/PAR(2) W(k) F(k).
    INTEGER, INTENT(IN) :: S, IJAC
    DOUBLE PRECISION, INTENT(IN) :: U(S), PAR(PARAMETERS)
    DOUBLE PRECISION, INTENT(OUT) :: F(S), DFDU(S,S), DFDP(S,PARAMETERS), ENERGY, DEDP(PARAMETERS)
    DOUBLE PRECISION, DIMENSION(SIZE(BASE)) :: ATTRACTION, FIELD, RHO, CHANGE
    DOUBLE PRECISION :: PEAK, TOTAL, SQUARES, SHARE(S)
    INTEGER :: K, P
    ATTRACTION = MATMUL(SHAPES(:,:S), W(:S)*U)
    FIELD = PAR(1)*ATTRACTION + V
    RHO = DEPTH - FIELD/PAR(2)
    PEAK = MAXVAL(RHO)
    RHO = BASE*EXP(RHO - PEAK)
    TOTAL = SUM(RHO)
    RHO = RHO/TOTAL
    F = MATMUL(RHO, SHAPES(:,:S)) - U
    SQUARES = SUM(W(:S)*U**2)
    ENERGY = -PAR(1)/PAR(2)*SQUARES/2 - PEAK - LOG(TOTAL)
    IF (IJAC == 0) RETURN
    CALL COVARIANCE(S, RHO, U + F, DFDU)
    DO K = 1, S
      DFDU(:,K) = -PAR(1)/PAR(2)*W(K)*DFDU(:,K)
      DFDU(K,K) = DFDU(K,K) - 1
    END DO
    IF (IJAC == 1) RETURN
    DO P = 1, PARAMETERS
      ! The derivative of FIELD/PAR(2).
      SELECT CASE (P)
      CASE (1)
        CHANGE = ATTRACTION/PAR(2)
        DEDP(P) = -SQUARES/PAR(2)/2
      CASE (2)
        CHANGE = -FIELD/PAR(2)**2
        DEDP(P) = PAR(1)/PAR(2)**2*SQUARES/2
      CASE DEFAULT
        SHARE = DW(:S,P)*U
        CHANGE = (PAR(1)*MATMUL(SHAPES(:,:S), SHARE) + DV(:,P))/PAR(2)
        DEDP(P) = -PAR(1)/PAR(2)*SUM(SHARE*U)/2
      END SELECT
      DEDP(P) = DEDP(P) + SUM(RHO*CHANGE)
      CHANGE = RHO*(CHANGE - SUM(RHO*CHANGE))
      DFDP(:,P) = -MATMUL(CHANGE, SHAPES(:,:S))
    END DO
  END SUBROUTINE STATE

  SUBROUTINE COVARIANCE(S, RHO, MEAN, MATRIX)
    ! On the circle from the moments at sums and differences of degrees.
    INTEGER, INTENT(IN) :: S
    DOUBLE PRECISION, INTENT(IN) :: RHO(:), MEAN(S)
    DOUBLE PRECISION, INTENT(OUT) :: MATRIX(S,S)
    DOUBLE PRECISION :: COSINE(0:2*N), SINE(-N:2*N)
    INTEGER :: C, J, K
    C = MIN(S, N)
    IF (D > 2) THEN
      MATRIX = MATMUL(TRANSPOSE(SHAPES(:,:S)*SPREAD(RHO, 2, S)), SHAPES(:,:S))
    ELSE
      COSINE(:2*C) = MATMUL(RHO, WAVES(:,0:2*C))
      DO K = 1, C
        DO J = 1, C
          MATRIX(J,K) = (COSINE(ABS(J - K)) + COSINE(J + K))/2
        END DO
      END DO
    END IF
    IF (UNEVEN .AND. S > N) THEN
      SINE(0:) = MATMUL(RHO, SINES(:,0:2*N))
      SINE(:-1) = -SINE(N:1:-1)
      DO K = 1, N
        DO J = 1, N
          MATRIX(N+J,N+K) = (COSINE(ABS(J - K)) - COSINE(J + K))/2
          MATRIX(J,N+K) = (SINE(J + K) + SINE(K - J))/2
          MATRIX(N+K,J) = MATRIX(J,N+K)
        END DO
      END DO
    END IF
    DO K = 1, S
      MATRIX(:,K) = MATRIX(:,K) - MEAN*MEAN(K)
    END DO
  END SUBROUTINE COVARIANCE

  SUBROUTINE HOLD_ROTATION(U, DFDU)
    ! Every rotation of a state that nothing holds solves F = 0: keep Newton's steps across these directions.
    DOUBLE PRECISION, INTENT(IN) :: U(STATES)
    DOUBLE PRECISION, INTENT(INOUT) :: DFDU(STATES,STATES)
    DOUBLE PRECISION :: TURNS(STATES,AXES), LENGTH
    INTEGER :: A, B, E
    TURNS = 0
    DO E = 1, SIZE(RATES)
      TURNS(INTO(E),ABOUT(E)) = TURNS(INTO(E),ABOUT(E)) + RATES(E)*U(FROM(E))
    END DO
    DO A = 1, AXES
      DO B = 1, A - 1
        TURNS(:,A) = TURNS(:,A) - TURNS(:,B)*DOT_PRODUCT(TURNS(:,B), TURNS(:,A))
      END DO
      LENGTH = SQRT(SUM(TURNS(:,A)**2))
      TURNS(:,A) = MERGE(TURNS(:,A)/MAX(LENGTH, 1D-10), 0D0, LENGTH > 1D-10)
    END DO
    DFDU = DFDU - MATMUL(TURNS, TRANSPOSE(TURNS))
  END SUBROUTINE HOLD_ROTATION
END MODULE MODEL

SUBROUTINE FUNC(NDIM, U, ICP, PAR, IJAC, F, DFDU, DFDP)
  ! NDIM <= STATES: the moments of one state. NDIM = STATES + 1: a state and PAR(SECOND), with the free energy of
  ! the uniform state. NDIM = 2 STATES + 1: two states of equal free energy and PAR(SECOND).
  USE MODEL
  IMPLICIT NONE
  INTEGER, INTENT(IN) :: NDIM, ICP(*), IJAC
  DOUBLE PRECISION, INTENT(IN) :: U(NDIM), PAR(*)
  DOUBLE PRECISION, INTENT(OUT) :: F(NDIM)
  DOUBLE PRECISION, INTENT(INOUT) :: DFDU(NDIM,NDIM), DFDP(NDIM,*)
  DOUBLE PRECISION :: P(PARAMETERS), ENERGY, DEDP(PARAMETERS)
  DOUBLE PRECISION, ALLOCATABLE :: OWN(:,:), SLOPES(:,:)
  INTEGER :: FIRST, S, SIGN
  P = PAR(:PARAMETERS)
  S = MIN(NDIM, STATES)
  IF (NDIM > STATES) P(SECOND) = U(NDIM)
  CALL PREPARE(P)
  ALLOCATE(OWN(S,S), SLOPES(S,PARAMETERS))
  IF (NDIM <= STATES) THEN
    CALL STATE(S, U, P, IJAC, F, OWN, SLOPES, ENERGY, DEDP)
    IF (IJAC == 0) RETURN
    DFDU = OWN
    IF (S == STATES) CALL HOLD_ROTATION(U, DFDU)
    IF (IJAC == 2) DFDP(:,:PARAMETERS) = SLOPES
    RETURN
  END IF
  F(NDIM) = 0
  IF (IJAC /= 0) DFDU = 0
  IF (IJAC == 2) DFDP(NDIM,:PARAMETERS) = 0
  SIGN = 1
  DO FIRST = 0, NDIM - 2, S
    CALL STATE(S, U(FIRST+1:FIRST+S), P, MIN(2*IJAC, 2), F(FIRST+1:FIRST+S), OWN, SLOPES, ENERGY, DEDP)
    F(NDIM) = F(NDIM) + SIGN*ENERGY
    IF (IJAC /= 0) THEN
      CALL HOLD_ROTATION(U(FIRST+1:FIRST+S), OWN)
      DFDU(FIRST+1:FIRST+S,FIRST+1:FIRST+S) = OWN
      DFDU(FIRST+1:FIRST+S,NDIM) = SLOPES(:,SECOND)
      DFDU(NDIM,FIRST+1:FIRST+S) = SIGN*P(1)/P(2)*W(:S)*F(FIRST+1:FIRST+S)
      DFDU(NDIM,NDIM) = DFDU(NDIM,NDIM) + SIGN*DEDP(SECOND)
    END IF
    IF (IJAC == 2) THEN
      DFDP(FIRST+1:FIRST+S,:PARAMETERS) = SLOPES
      DFDP(NDIM,:PARAMETERS) = DFDP(NDIM,:PARAMETERS) + SIGN*DEDP
    END IF
    SIGN = -1
  END DO
END SUBROUTINE FUNC

SUBROUTINE PVLS(NDIM, U, PAR)
  USE MODEL, ONLY: STATES, SECOND
  IMPLICIT NONE
  INTEGER, INTENT(IN) :: NDIM
  DOUBLE PRECISION, INTENT(IN) :: U(NDIM)
  DOUBLE PRECISION, INTENT(INOUT) :: PAR(*)
  IF (NDIM == STATES + 1 .OR. NDIM == 2*STATES + 1) PAR(SECOND) = U(NDIM)
END SUBROUTINE PVLS

SUBROUTINE STPNT
END SUBROUTINE STPNT
SUBROUTINE BCND
END SUBROUTINE BCND
SUBROUTINE ICND
END SUBROUTINE ICND
SUBROUTINE FOPT
END SUBROUTINE FOPT
