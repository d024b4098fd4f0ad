/** Bytes somewhere in memory. */
export class Span {
  constructor(
    readonly at: usize,
    readonly length: usize,
  ) {}
}
