/** Why a team does not grow for now. */
export interface Hold {
  readonly reason: string;
  readonly message: string;
}
