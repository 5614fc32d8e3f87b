import { readFileSync } from 'node:fs'

/** The configuration of a resolver: its servers, search domains, and options such as `ndots:5`. */
export interface ResolverConfig {
  servers: readonly string[]
  searches: readonly string[]
  options: readonly string[]
}

/** Parses a resolv.conf. The last line with search domains wins, as in glibc. */
export function parseResolvConf(text: string): ResolverConfig {
  const servers: string[] = []
  const options: string[] = []
  let searches: string[] = []
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/)
    if (keyword === 'nameserver' && values[0]) servers.push(values[0])
    else if (keyword === 'search' || keyword === 'domain') searches = values
    else if (keyword === 'options') options.push(...values)
  }
  return { servers, searches, options }
}

/** Formats a resolv.conf. */
export function formatResolvConf({ servers, searches, options }: ResolverConfig): string {
  return [
    ...(searches.length > 0 ? [`search ${searches.join(' ')}\n`] : []),
    ...servers.map((server) => `nameserver ${server}\n`),
    ...(options.length > 0 ? [`options ${options.join(' ')}\n`] : []),
  ].join('')
}

/** Reads the resolv.conf of this machine. A machine without one resolves no names. */
export function readResolvConf(file = '/etc/resolv.conf'): ResolverConfig {
  try {
    return parseResolvConf(readFileSync(file, 'utf8'))
  } catch {
    return { servers: [], searches: [], options: [] }
  }
}
