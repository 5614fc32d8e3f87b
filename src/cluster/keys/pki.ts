import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { makeDirectory, replaceFile } from '../../base/durable-files.ts'
import { type KeyPair, createAuthority, isKeyOf } from '../../server/index.ts'

/**
 * Loads a CA, or creates it on the first start. `ca` is the cluster's CA. `front-proxy-ca` only signs front-proxy
 * certificates: their owner can impersonate any user.
 */
export function loadAuthority(dataDir: string, now: number, name: 'ca' | 'front-proxy-ca' = 'ca'): KeyPair {
  const dir = path.join(dataDir, 'pki')
  const files = { certificate: path.join(dir, `${name}.crt`), key: path.join(dir, `${name}.key`) }
  if (existsSync(files.certificate) && existsSync(files.key)) {
    const pair = { certificate: readFileSync(files.certificate, 'utf8'), key: readFileSync(files.key, 'utf8') }
    checkPair(pair, dir, name)
    return pair
  }
  makeDirectory(dir)
  const pair = createAuthority(now)
  // The key is written first: a certificate without its key would be useless at the next start.
  replaceFile(files.key, pair.key)
  replaceFile(files.certificate, pair.certificate)
  return pair
}

function checkPair(pair: KeyPair, dir: string, name: string): void {
  let fits = false
  try {
    fits = isKeyOf(pair)
  } catch {
    // Unparseable files are reported below with their names.
  }
  if (!fits) throw new Error(`${dir}: ${name}.crt and ${name}.key are not a certificate and its key`)
}

/** Loads the key that signs service account tokens, or creates it on the first start. */
export function loadTokenKey(dataDir: string): string {
  const file = path.join(dataDir, 'pki', 'sa.key')
  if (existsSync(file)) return readFileSync(file, 'utf8')
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string
  makeDirectory(path.dirname(file))
  replaceFile(file, key)
  return key
}
