/** Images that the cluster of the tests has: those of `images/build`, loaded as docs/development/cluster.md says. */

const prefix = process.env['VIEWMESH_TEST_IMAGES'] ?? 'localhost/viewmesh-'
const checkoutTag = process.env['VIEWMESH_TEST_TAG'] ?? 'dev'

/** Whole reference of a program's image; without a tag the one that is built from this checkout. */
export function clusterImage(
  program: 'generator' | 'host' | 'operator' | 'toolkit' | 'anvil',
  tag: string = checkoutTag,
): string {
  return `${prefix}${program}:${tag}`
}
