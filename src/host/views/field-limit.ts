/** How many fields all Views of a Host have together at most, so that the schema of all stays quick to build and to read. */

/** Fields for each View that there may be. */
const fieldsPerView = 50
const leastFields = 1_000

export function maxFieldsOf(maxViews: number): number {
  return Math.max(leastFields, fieldsPerView * maxViews)
}
