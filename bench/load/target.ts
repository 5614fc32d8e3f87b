import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'

/** A server and how to be somebody there. */
export interface Target {
  url: URL
  tls: { ca?: Buffer | undefined; cert?: Buffer | undefined; key?: Buffer | undefined; rejectUnauthorized: boolean }
  headers: Record<string, string>
}

interface Kubeconfig {
  'current-context'?: string
  contexts?: { name: string; context: { cluster: string; user: string } }[]
  clusters: { name: string; cluster: Record<string, string | boolean> }[]
  users: { name: string; user: Record<string, string> }[]
}

/** Reads the current context of a kubeconfig. */
export function readTarget(file: string): Target {
  const config = parse(readFileSync(file, 'utf8')) as Kubeconfig
  const context = config.contexts?.find((c) => c.name === config['current-context'])?.context
  const { cluster } = config.clusters.find((c) => c.name === context?.cluster) ?? config.clusters[0]!
  const { user } = config.users.find((u) => u.name === context?.user) ?? config.users[0]!
  const bytes = (from: Record<string, string | boolean>, name: string) => {
    const data = from[`${name}-data`]
    if (typeof data === 'string') return Buffer.from(data, 'base64')
    const named = from[name]
    return typeof named === 'string' ? readFileSync(path.resolve(path.dirname(file), named)) : undefined
  }
  return {
    url: new URL(String(cluster.server)),
    tls: {
      ca: bytes(cluster, 'certificate-authority'),
      cert: bytes(user, 'client-certificate'),
      key: bytes(user, 'client-key'),
      rejectUnauthorized: cluster['insecure-skip-tls-verify'] !== true,
    },
    headers: { accept: 'application/json', ...(user.token ? { authorization: `Bearer ${user.token}` } : {}) },
  }
}
