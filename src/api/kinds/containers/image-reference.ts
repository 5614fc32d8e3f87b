const reference = new RegExp(
  '^(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?/)?' +
    '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*' +
    '(?::\\w[\\w.-]{0,127})?' +
    '(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$',
)
const sha256 = /^sha256:[0-9a-f]{64}$/

/**
 * The tag of an image's name: `latest` if it has neither tag nor digest, '' if it has only a digest or is no valid
 * name.
 */
export function imageTag(image: string): string {
  if (!reference.test(image)) return ''
  const at = image.indexOf('@')
  if (at >= 0 && image.startsWith('sha256:', at + 1) && !sha256.test(image.slice(at + 1))) return ''
  const name = at < 0 ? image : image.slice(0, at)
  const colon = name.lastIndexOf(':')
  if (colon > name.lastIndexOf('/')) return name.slice(colon + 1)
  return at < 0 ? 'latest' : ''
}

/** Pulls an image with tag `latest` always, and others only if the node does not have them. */
export const defaultPullPolicy = (image: string): string => (imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent')
