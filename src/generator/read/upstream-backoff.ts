/** How long the reading and the writing thread wait between attempts at the execution node. */
export const upstreamBackoff = { minMs: 200, maxMs: 10_000 }
