import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { makeDirectory, replaceFile } from '../../base/durable-files.ts'
import type { EtcdFlags } from '../serving/open-store.ts'
import type { ServeOptions } from '../serving/serve-options.ts'

/** Configuration that a server shares with the others of its cluster, besides the keys, which are in etcd. */
export interface ServerBundle {
  etcd: {
    servers: readonly string[]
    prefix: string
    ca: string | undefined
    certificate: string | undefined
    key: string | undefined
  }
  /** Content of --encryption-provider-config. */
  encryption: string | undefined
  tokenIssuers: readonly string[]
  /** --service-node-port-range */
  nodePorts?: readonly [number, number] | undefined
}

const read = (file: string | undefined): string | undefined =>
  file === undefined ? undefined : readFileSync(file, 'utf8')

/** Returns the bundle of a server that shares its store. */
export function bundleOf({
  etcd,
  encryption,
  tokenIssuers = [],
  nodePorts,
}: Pick<ServeOptions, 'etcd' | 'encryption' | 'tokenIssuers' | 'nodePorts'>): ServerBundle | undefined {
  if (!etcd) return undefined
  const { servers, prefix, caFile, certFile, keyFile } = etcd
  return {
    etcd: { servers, prefix, ca: read(caFile), certificate: read(certFile), key: read(keyFile) },
    encryption: read(encryption?.configFile),
    tokenIssuers,
    nodePorts,
  }
}

/** The stored bundle, which `coxswain token create` reads. */
const bundleFile = (dataDir: string): string => path.join(dataDir, 'pki', 'servers.json')

/** Stores the bundle in the data directory. */
export function keepBundle(dataDir: string, bundle: ServerBundle): void {
  makeDirectory(path.dirname(bundleFile(dataDir)))
  replaceFile(bundleFile(dataDir), JSON.stringify(bundle))
}

/** Reads the bundle of a data directory; undefined if there is none. */
export const keptBundle = (dataDir: string): ServerBundle | undefined =>
  existsSync(bundleFile(dataDir)) ? (JSON.parse(readFileSync(bundleFile(dataDir), 'utf8')) as ServerBundle) : undefined

/**
 * Writes the bundle to files of the data directory and returns the flags that refer to them. For a bundle that was kept,
 * existing files stay: they may have been renewed.
 */
export function flagsOf(
  bundle: ServerBundle,
  dataDir: string,
  isKept: boolean,
): Pick<ServeOptions, 'store' | 'etcd' | 'encryption' | 'tokenIssuers' | 'nodePorts'> {
  const dir = path.join(dataDir, 'pki')
  makeDirectory(dir)
  const put = (name: string, text: string | undefined): string | undefined => {
    if (text === undefined) return undefined
    const file = path.join(dir, name)
    if (!isKept || !existsSync(file)) replaceFile(file, text)
    return file
  }
  const { servers, prefix, ca, certificate, key } = bundle.etcd
  const etcd: EtcdFlags = {
    servers,
    prefix,
    caFile: put('etcd-ca.crt', ca),
    certFile: put('etcd-client.crt', certificate),
    keyFile: put('etcd-client.key', key),
  }
  const configFile = put('encryption.yaml', bundle.encryption)
  return {
    store: 'etcd',
    etcd,
    encryption: configFile === undefined ? undefined : { configFile, reloads: false },
    tokenIssuers: bundle.tokenIssuers,
    nodePorts: bundle.nodePorts,
  }
}

const cipher = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/** Returns a new key for sealing: 64 hexadecimal digits. */
export const newBundleKey = (): string => randomBytes(32).toString('hex')

/** Encrypts a bundle. */
export function sealBundle(bundle: ServerBundle, key: string): Buffer {
  const iv = randomBytes(ivBytes)
  const sealing = createCipheriv(cipher, Buffer.from(key, 'hex'), iv)
  const body = Buffer.concat([sealing.update(JSON.stringify(bundle)), sealing.final()])
  return Buffer.concat([iv, sealing.getAuthTag(), body])
}

/** Decrypts a bundle. Throws if the key is wrong, or a byte was changed. */
export function openBundle(sealed: Buffer, key: string): ServerBundle {
  const opening = createDecipheriv(cipher, Buffer.from(key, 'hex'), sealed.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  })
  opening.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes))
  const text = Buffer.concat([opening.update(sealed.subarray(ivBytes + tagBytes)), opening.final()])
  return JSON.parse(text.toString()) as ServerBundle
}
