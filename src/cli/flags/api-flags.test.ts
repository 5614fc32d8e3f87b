import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command, CommanderError } from 'commander'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addApiFlags, readApiFlags } from './api-flags.ts'

let dir: string

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'api-flags-'))
})

afterEach(() => rmSync(dir, { recursive: true }))

async function read(...args: string[]) {
  const command = addApiFlags(new Command('x').exitOverride().configureOutput({ writeErr: () => {} }))
  command.parse(args, { from: 'user' })
  return readApiFlags(command, '1.2.3')
}

const config = (text: string) => {
  const file = path.join(dir, 'config.yaml')
  writeFileSync(file, text)
  return file
}

describe('the flags of a server', () => {
  it('have defaults that keep it to this machine', async () => {
    expect(await read()).toMatchObject({ dataDir: './.coxswain', store: 'lmdb', securePort: 6443, bindAddress: '127.0.0.1', disabledAdmission: [], kubeconfigOut: undefined, release: '1.2.3' })
  })

  it('are read', async () => {
    const options = await read('--data-dir', 'd', '--store', 'memory', '--secure-port', '0', '--bind-address', '::1', '--disable-admission-plugins', 'A, B,', '--feature-gates', 'DaemonSetConditions=false')
    expect(options).toMatchObject({ dataDir: 'd', store: 'memory', securePort: 0, bindAddress: '::1', disabledAdmission: ['A', 'B'] })
    expect(options.gates.enabled('DaemonSetConditions')).toBe(false)
  })

  it.each([
    ['a port that is none', ['--secure-port', 'x'], /must be a port number from 0 to 65535/],
    ['a port beyond all', ['--secure-port', '65536'], /must be a port number/],
    ['a store that there is not', ['--store', 'paper'], /Allowed choices are lmdb, memory/],
    ['a gate that there is not', ['--feature-gates', 'Bogus=true'], /unrecognized feature gate: Bogus/],
    ['a flag that there is not', ['--bogus'], /unknown option '--bogus'/],
    ['a level that there is not', ['--log-level', 'loud'], /Allowed choices are/],
  ])('refuse %s', async (_what, args, message) => {
    const failed = await read(...args).catch((e: unknown) => e)
    expect(failed).toBeInstanceOf(CommanderError)
    expect((failed as Error).message).toMatch(message)
  })
})

describe('--store etcd', () => {
  it('takes the flags of kube-apiserver', async () => {
    const options = await read('--store', 'etcd', '--etcd-servers', 'https://a:2379,https://b:2379', '--etcd-cafile', 'ca', '--etcd-certfile', 'c', '--etcd-keyfile', 'k')
    expect(options.etcd).toEqual({ servers: ['https://a:2379', 'https://b:2379'], caFile: 'ca', certFile: 'c', keyFile: 'k', prefix: '/registry' })
  })

  it.each([
    ['no servers', ['--store', 'etcd'], '--etcd-servers must be specified'],
    ['servers for another store', ['--etcd-servers', 'http://a:2379'], '--etcd-servers: only with --store etcd'],
    ['a certificate without its key', ['--store', 'etcd', '--etcd-servers', 'https://a', '--etcd-certfile', 'c'], 'must be specified together'],
  ])('refuses %s', async (_what, args, message) => {
    await expect(read(...args)).rejects.toThrow(message)
  })
})

describe('--config', () => {
  it('gives any of the flags; the command line counts more', async () => {
    const file = config('data-dir: d\nsecure-port: 1234\nbind-address: 0.0.0.0\nfeature-gates: {DaemonSetConditions: false}\ndisable-admission-plugins: [A, B]\nstore: memory\n')
    const options = await read('--config', file, '--bind-address', '127.0.0.2')
    expect(options).toMatchObject({ dataDir: 'd', securePort: 1234, bindAddress: '127.0.0.2', disabledAdmission: ['A', 'B'], store: 'memory' })
    expect(options.gates.enabled('DaemonSetConditions')).toBe(false)
  })

  it('may be empty', async () => {
    expect((await read('--config', config(''))).securePort).toBe(6443)
  })

  it.each([
    ['a flag that there is not', 'bogus: 1', /config\.yaml: unknown flag "bogus"/],
    ['another file', 'config: x', /unknown flag "config"/],
    ['a list', '- a', /must be a mapping of flags to values/],
    ['a bad value', 'secure-port: x', /config\.yaml: secure-port: must be a port number/],
    ['a bad choice', 'store: paper', /config\.yaml: store: Allowed choices are lmdb, memory, etcd\./],
  ])('refuses %s', async (_what, text, message) => {
    await expect(read('--config', config(text))).rejects.toThrow(message)
  })

  it('names a file that is not there', async () => {
    await expect(read('--config', path.join(dir, 'nowhere'))).rejects.toThrow(/ENOENT.*nowhere/)
  })
})

describe('flags of kube-apiserver', () => {
  it.each<[string, string[], object]>([
    ['nothing is said', [], { settings: { allowPrivileged: true, eventTtlMs: 3_600_000 }, tokenIssuers: [] }],
    ['--allow-privileged', ['--allow-privileged'], { settings: { allowPrivileged: true } }],
    ['--allow-privileged=false', ['--allow-privileged=false'], { settings: { allowPrivileged: false } }],
    ['--event-ttl', ['--event-ttl', '24h'], { settings: { eventTtlMs: 86_400_000 } }],
    ['--event-ttl 0', ['--event-ttl', '0'], { settings: { eventTtlMs: 0 } }],
    ['issuers', ['--service-account-issuer', 'https://a', '--service-account-issuer=https://b'], { tokenIssuers: ['https://a', 'https://b'] }],
    ['the place of the keys', ['--service-account-jwks-uri', 'https://k/jwks'], { jwksUri: 'https://k/jwks' }],
  ])('%s', async (_what, args, expected) => {
    expect(await read(...args)).toMatchObject(expected)
  })
})
