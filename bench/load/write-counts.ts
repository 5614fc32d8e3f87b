import { request } from 'node:https'
import { textOf } from './object-watch.ts'
import type { Target } from './target.ts'

const writeVerbs = new Set(['POST', 'PUT', 'PATCH', 'DELETE', 'DELETECOLLECTION', 'APPLY'])

/** The number of writes that a server has processed, from its metrics, by a key such as `PUT deployments/status`. */
export async function writeCounts({ url, tls, headers }: Target): Promise<Map<string, number>> {
  const text = await new Promise<string>((resolve, reject) => {
    const asked = request({ host: url.hostname, port: url.port, path: '/metrics', headers, agent: false, ...tls }, (response) => void textOf(response).then(resolve, reject))
    asked.on('error', reject)
    asked.end()
  })
  const counts = new Map<string, number>()
  for (const [, labels = '', value = ''] of text.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
    const verb = label('verb')
    if (!writeVerbs.has(verb)) continue
    const what = `${verb} ${label('resource')}${label('subresource') ? `/${label('subresource')}` : ''}`
    counts.set(what, (counts.get(what) ?? 0) + Number(value))
  }
  return counts
}

/** The writes between two counts, without the leader's lease renewals. */
export function writesBetween(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): Record<string, number> {
  const written: Record<string, number> = {}
  for (const [what, count] of after) {
    const more = count - (before.get(what) ?? 0)
    if (more > 0 && !what.endsWith(' leases')) written[what] = more
  }
  return written
}
