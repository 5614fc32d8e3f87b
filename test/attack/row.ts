/** One request of the attack. */
export interface Sent {
  method?: string
  path: string
  /** Content type of the body; JSON where none is named. */
  type?: string
  headers?: Record<string, string>
  body?: string | Buffer
}

/** A row of the table: how a request is made whose body has about so many bytes. */
export interface Row {
  name: string
  /** Objects that must be there first, made for the same size. They are not measured. */
  before?: (bytes: number) => Sent[]
  make: (bytes: number) => Sent
  /** The most bytes that make sense: a header or a URL is refused past 64 kB. */
  maxBytes?: number
  /** Codes of 500 and more that Kubernetes answers, too. */
  also?: number[]
  /** Part of the short form of the table that the suite runs. */
  short?: boolean
}

/** The most that a body may have. */
export const bodyBytes = 2_900_000
/** The most that an object may have, with room for what the server adds. */
export const objectBytes = 1_400_000

export const inDefault = (group: string, plural: string): string =>
  `/${group.includes('/') ? 'apis' : 'api'}/${group}/namespaces/default/${plural}`
export const configMaps = inDefault('v1', 'configmaps')
export const pods = inDefault('v1', 'pods')

/** Pieces, each made of its number, until they have so many characters. */
export function fill(bytes: number, piece: (i: number) => string, separator = ''): string {
  const pieces: string[] = []
  let length = 0
  for (let i = 0; length < bytes; i++) {
    const text = piece(i)
    pieces.push(text)
    length += text.length + separator.length
  }
  return pieces.join(separator)
}

/** Items, each made of its number, whose JSON has about so many characters. */
export function items<T>(bytes: number, item: (i: number) => T): T[] {
  const all: T[] = []
  for (let i = 0, length = 0; length < bytes; i++) {
    const next = item(i)
    all.push(next)
    length += JSON.stringify(next).length + 1
  }
  return all
}

/** A map with so many characters. */
export const map = <T>(bytes: number, key: (i: number) => string, value: (i: number) => T): Record<string, T> =>
  Object.fromEntries(items(bytes, (i): [string, T] => [key(i), value(i)]))

export const json = (path: string, value: unknown, query = ''): Sent => ({ method: 'POST', path: path + query, body: JSON.stringify(value) })
export const yaml = (body: string, path = configMaps): Sent => ({ method: 'POST', path, type: 'application/yaml', body })

/** A pod with one container, and more in its spec or container. */
export const pod = (spec: object, container: object = {}, metadata: object = { name: 'attack' }): object => ({
  apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
})
