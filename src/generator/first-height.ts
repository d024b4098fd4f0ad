/** Where an empty store begins: at the head, at a height, or some blocks behind the head. */

/** `behind` counts back from the head at the first start. */
export type StartHeight =
  | { readonly kind: 'at'; readonly height: number }
  | { readonly kind: 'behind'; readonly blocks: number }

/** The first height to read, given the node's head. */
export function firstHeight(start: StartHeight, head: number): number {
  return start.kind === 'at' ? start.height : Math.max(0, head - start.blocks)
}
