import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { KeyPair } from '../server/index.ts'
import type { Store } from '../store/index.ts'
import { loadAuthority, loadTokenKey, writePrivateFile } from './pki.ts'

/** The keys that every API server of a cluster has. */
export interface ClusterKeys {
  /** Signs certificates. */
  authority: KeyPair
  /** Signs the certificate with which servers pass requests on to other API servers. */
  proxyAuthority: KeyPair
  /** Signs the tokens of service accounts. */
  tokenKey: string
}

/** Where servers that share a store find the keys. No kind has keys below it, so that the API does not show it. */
const sharedKey = '/registry/coxswain.io/cluster-keys'

/**
 * The keys of the cluster, as files in the data directory. Where several servers share the store, the first one's are
 * kept there for the others.
 */
export async function loadClusterKeys(store: Store, dataDir: string, now: number): Promise<ClusterKeys> {
  if (!store.currentRevision) return ownKeys(dataDir, now)
  const shared = await keysInStore(store)
  if (shared) return adopt(shared, dataDir)
  const isNew = !existsSync(authorityKeyFile(dataDir))
  const own = ownKeys(dataDir, now)
  const result = await store.write({ key: sharedKey, expected: 0, value: Buffer.from(JSON.stringify(own)) })
  if (result.ok) return own
  // Another server was faster. What was made a moment ago has vouched for nobody.
  const keys = readKeys(result.current!.value)
  if (isNew) writeKeys(keys, dataDir)
  return adopt(keys, dataDir)
}

const ownKeys = (dataDir: string, now: number): ClusterKeys => ({
  authority: loadAuthority(dataDir, now),
  proxyAuthority: loadAuthority(dataDir, now, 'front-proxy-ca'),
  tokenKey: loadTokenKey(dataDir),
})

/** The keys in a data directory; undefined where no server has made any. */
export const readKeyFiles = (dataDir: string, now: number): ClusterKeys | undefined =>
  existsSync(authorityKeyFile(dataDir)) ? ownKeys(dataDir, now) : undefined

/** The keys that servers which share a store keep in it. */
export async function keysInStore(store: Store): Promise<ClusterKeys | undefined> {
  const shared = await store.get(sharedKey)
  return shared && readKeys(shared.value)
}

function readKeys(value: Buffer): ClusterKeys {
  return JSON.parse(value.toString()) as ClusterKeys
}

/** Keys in the data directory must be those of the cluster: others have signed for another one. */
function adopt(keys: ClusterKeys, dataDir: string): ClusterKeys {
  if (!existsSync(authorityKeyFile(dataDir))) writeKeys(keys, dataDir)
  const isSame = filesOf(keys, dataDir).every(([file, text]) => existsSync(file) && readFileSync(file, 'utf8') === text)
  if (isSame) return keys
  throw new Error(`--data-dir: the keys in ${path.join(dataDir, 'pki')} are those of another cluster than the one in the store`)
}

/** Writes the keys into a data directory. */
export function writeKeys(keys: ClusterKeys, dataDir: string): void {
  mkdirSync(path.join(dataDir, 'pki'), { recursive: true, mode: 0o700 })
  for (const [file, text] of filesOf(keys, dataDir)) writePrivateFile(file, text)
}

/** The last file to be written: where it is there, all are. */
const authorityKeyFile = (dataDir: string): string => path.join(dataDir, 'pki', 'ca.key')

const filesOf = ({ authority, proxyAuthority, tokenKey }: ClusterKeys, dataDir: string): [file: string, text: string][] => [
  [path.join(dataDir, 'pki', 'sa.key'), tokenKey],
  [path.join(dataDir, 'pki', 'front-proxy-ca.crt'), proxyAuthority.certificate],
  [path.join(dataDir, 'pki', 'front-proxy-ca.key'), proxyAuthority.key],
  [path.join(dataDir, 'pki', 'ca.crt'), authority.certificate],
  [authorityKeyFile(dataDir), authority.key],
]
