/**
 * Where two chains part. Equal blocks at a height mean equal blocks below it, so it is found with a
 * number of questions that grows with the logarithm of how far back it lies.
 */

/**
 * The last of the ascending `heights` for which `isCommon` is true, null when there is none. Asks
 * from the end backwards, in steps that double.
 */
export async function findCommonHeight(
  heights: readonly number[],
  isCommon: (height: number) => Promise<boolean>,
): Promise<number | null> {
  const ask = async (index: number): Promise<boolean> => {
    const height = heights[index]
    return height !== undefined && (await isCommon(height))
  }
  let different = heights.length
  let common = -1
  for (let step = 1; different > 0; step *= 2) {
    const probe = Math.max(0, heights.length - step)
    if (await ask(probe)) {
      common = probe
      break
    }
    different = probe
  }
  while (different - common > 1) {
    const middle = (common + different) >> 1
    if (await ask(middle)) common = middle
    else different = middle
  }
  return heights[common] ?? null
}
