/** The parts of a URL, as Go's net/url reads a request's. */
export interface GoUrl {
  scheme: string
  /** Host and port. */
  host: string
  /** The original path if it is validly encoded. */
  escapedPath: string
  query: string
  /** The part after the scheme if it does not begin with `/`: `mailto:x`. */
  opaque: string
  text: string
}

// oxlint-disable-next-line no-control-regex
const controls = /[\x00-\x1f\x7f]/
const badEscape = /%(?![0-9a-fA-F]{2})/

function splitScheme(text: string): { scheme: string; rest: string } | string {
  const colon = text.search(/[^a-zA-Z0-9+\-.]/)
  if (colon === 0 && text[0] === ':') return 'missing protocol scheme'
  if (colon > 0 && text[colon] === ':' && /^[a-zA-Z]/.test(text))
    return { scheme: text.slice(0, colon).toLowerCase(), rest: text.slice(colon + 1) }
  return { scheme: '', rest: text }
}

const hostCharacters = /^[A-Za-z0-9\-._~!$&'()*+,;=:"<>[\]\u0080-\uffff]*$/

/** The error in a host with port; undefined if it is valid. */
function hostProblem(host: string): string | undefined {
  if (host.startsWith('[')) {
    const close = host.lastIndexOf(']')
    if (close < 0) return "missing ']' in host"
    const port = host.slice(close + 1)
    return port === '' || /^:[0-9]*$/.test(port) ? undefined : `invalid port ${JSON.stringify(port)} after host`
  }
  const colon = host.lastIndexOf(':')
  if (colon >= 0 && !/^:[0-9]*$/.test(host.slice(colon)))
    return `invalid port ${JSON.stringify(host.slice(colon))} after host`
  if (/%(?![0-9a-fA-F]{2})/.test(host)) return `invalid URL escape ${JSON.stringify(/%.{0,2}/.exec(host)![0])}`
  const decoded = host.replace(/%[89a-fA-F][0-9a-fA-F]/g, '')
  if (!hostCharacters.test(decoded))
    return `invalid character ${JSON.stringify([...host].find((char) => !hostCharacters.test(char)) ?? '')} in host name`
  return undefined
}

function splitAuthority(rest: string): { host: string; path: string } | string {
  const slash = rest.indexOf('/')
  const authority = slash < 0 ? rest : rest.slice(0, slash)
  const path = slash < 0 ? '' : rest.slice(slash)
  const at = authority.lastIndexOf('@')
  const user = at < 0 ? '' : authority.slice(0, at)
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) || badEscape.test(user)) return 'net/url: invalid userinfo'
  const host = authority.slice(at + 1)
  const problem = hostProblem(host)
  return problem === undefined ? { host: decodeHost(host), path } : problem
}

const decodeHost = (host: string): string => {
  try {
    return decodeURIComponent(host)
  } catch {
    return host
  }
}

const pathCharacters = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@[\]/]|%[0-9a-fA-F]{2})*$/

/** The path in Go's encoding: as written if that is one, otherwise encoded anew. */
function encodePath(path: string): string {
  if (pathCharacters.test(path)) return path
  const bytes = Buffer.from(
    path.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'utf8',
  )
  return Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte)
    return /[A-Za-z0-9\-._~$&+,/:;=@]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
}

/**
 * Parses an absolute URI or an absolute path as Go's ParseRequestURI does. Returns an error message if it is invalid.
 */
export function parseRequestUri(text: string): GoUrl | string {
  const problem = (why: string) => `parse ${JSON.stringify(text)}: ${why}`
  if (controls.test(text)) return problem('net/url: invalid control character in URL')
  if (text === '') return problem('empty url')
  if (text === '*') return { scheme: '', host: '', escapedPath: '*', query: '', opaque: '', text }
  const split = splitScheme(text)
  if (typeof split === 'string') return problem(split)
  const { scheme } = split
  const question = split.rest.indexOf('?')
  const query = question < 0 ? '' : split.rest.slice(question + 1)
  const rest = question < 0 ? split.rest : split.rest.slice(0, question)
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { scheme, host: '', escapedPath: '', query, opaque: rest, text }
    return problem('invalid URI for request')
  }
  const authority = scheme !== '' && rest.startsWith('//') ? splitAuthority(rest.slice(2)) : { host: '', path: rest }
  if (typeof authority === 'string') return problem(authority)
  if (badEscape.test(authority.path))
    return problem(`invalid URL escape ${JSON.stringify(/%(?![0-9a-fA-F]{2}).{0,2}/.exec(authority.path)?.[0] ?? '%')}`)
  return { scheme, host: authority.host, escapedPath: encodePath(authority.path), query, opaque: '', text }
}

/** The host without its port and brackets. */
export function hostname(host: string): string {
  const bare = host.startsWith('[') ? host.slice(0, host.lastIndexOf(']') + 1) : host.replace(/:[0-9]*$/, '')
  return bare.startsWith('[') ? bare.slice(1, -1) : bare
}

/** The port of a host; empty if there is none. */
export const port = (host: string): string =>
  /:([0-9]*)$/.exec(host.startsWith('[') ? host.slice(host.lastIndexOf(']') + 1) : host)?.[1] ?? ''

/** The values of each key of a query. Parts that Go rejects are omitted. */
export function parseQuery(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>()
  for (const part of query.split('&')) {
    if (part === '' || part.includes(';') || badEscape.test(part)) continue
    const equals = part.indexOf('=')
    const [key, value] = (equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)]).map(
      decodeQuery,
    ) as [string, string]
    const known = values.get(key)
    if (known) known.push(value)
    else values.set(key, [value])
  }
  return values
}

function decodeQuery(text: string): string {
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-fA-F]{2})|[\u0080-\uffff]+/g, (part, hex: string | undefined) =>
      hex === undefined ? Buffer.from(part, 'utf8').toString('latin1') : String.fromCharCode(Number.parseInt(hex, 16)),
    )
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
