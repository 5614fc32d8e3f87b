import { type Library, globalOverload, memberOverload } from '../declarations.ts'
import { readCost } from '../run/frame.ts'
import { boolType, listType, mapType, opaqueType, stringType } from '../types.ts'
import { CelError, Opaque, PlainMap, type Value } from '../values.ts'
import { type GoUrl, hostname, parseQuery, parseRequestUri, port } from './go-url.ts'

const urlType = opaqueType('kubernetes.URL')

class UrlValue extends Opaque {
  readonly typeName = 'kubernetes.URL'
  readonly url: GoUrl
  constructor(url: GoUrl) {
    super()
    this.url = url
  }
  equals(other: Opaque): boolean {
    return other instanceof UrlValue && other.url.text === this.url.text
  }
}

function toUrl(text: string): UrlValue {
  const url = parseRequestUri(text)
  if (typeof url === 'string') throw new CelError(`URL parse error during conversion from string: ${url}`)
  return new UrlValue(url)
}

function queryOf({ query }: GoUrl): PlainMap {
  const map = new PlainMap()
  for (const [key, values] of parseQuery(query)) map.insert(key, values)
  return map
}

/** Parsing takes about 1 µs, and 20 ns per character. */
const parseCost = (_: Value, text: string) => 100 + readCost(text) * 20
const getter = (id: string, run: (url: GoUrl) => string) => [
  memberOverload(
    id,
    [urlType],
    stringType,
    (_, { url }: UrlValue) => run(url),
    () => 10,
  ),
]

/** Kubernetes' URLs. */
export const urls: Library = {
  name: 'url',
  functions: {
    url: [globalOverload('string_to_url', [stringType], urlType, (_, text: string) => toUrl(text), parseCost)],
    isURL: [
      globalOverload(
        'is_url_string',
        [stringType],
        boolType,
        (_, text: string) => typeof parseRequestUri(text) !== 'string',
        parseCost,
      ),
    ],
    getScheme: getter('url_get_scheme', (url) => url.scheme),
    getHost: getter('url_get_host', (url) => url.host),
    getHostname: getter('url_get_hostname', (url) => hostname(url.host)),
    getPort: getter('url_get_port', (url) => port(url.host)),
    getEscapedPath: getter('url_get_escaped_path', (url) => url.escapedPath),
    getQuery: [
      memberOverload(
        'url_get_query',
        [urlType],
        mapType(stringType, listType(stringType)),
        (_, { url }: UrlValue) => queryOf(url),
        (_, { url }: UrlValue) => 150 + url.query.length * 20,
      ),
    ],
  },
}
