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

const mostNameCharacters = 255

/** The error of an image's name in the words of container runtimes, or undefined for a valid name. */
export function invalidImageName(image: string): string | undefined {
  if (/^[a-f0-9]{64}$/.test(image)) {
    return `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`
  }
  const { domain, rest } = splitDomain(image)
  const colon = rest.indexOf(':')
  const path = colon < 0 ? rest : rest.slice(0, colon)
  if (path !== path.toLowerCase()) return `invalid reference format: repository name (${path}) must be lowercase`
  const full = `${domain}/${rest}`
  if (!reference.test(full)) return 'invalid reference format'
  const name = full.replace(/@.*$/, '').replace(/:[^/:]*$/, '')
  return name.length > mostNameCharacters
    ? `repository name must not be more than ${mostNameCharacters} characters`
    : undefined
}

/** `nginx` is `library/nginx` of `docker.io`. The part before the first slash is a domain if it looks like one. */
function splitDomain(image: string): { domain: string; rest: string } {
  const slash = image.indexOf('/')
  const first = slash < 0 ? '' : image.slice(0, slash)
  const isDomain = first !== '' && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase())
  if (isDomain) return { domain: first, rest: image.slice(slash + 1) }
  return { domain: 'docker.io', rest: slash < 0 ? `library/${image}` : image }
}
