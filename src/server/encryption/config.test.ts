import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { silentLogger } from '../../base/logger.ts'
import { systemRandom } from '../../base/random.ts'
import { readEncryptionConfiguration } from './config.ts'
import { Encryption } from './encryption.ts'

const header = 'apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n'
const key32 = Buffer.alloc(32, 7).toString('base64')
const one = (resources: string, providers: string) =>
  `${header}resources: [{resources: ${resources}, providers: ${providers}}]`
const withKey = (secret: string, provider = 'aescbc') =>
  one('[secrets]', `[{${provider}: {keys: [{name: key1, secret: "${secret}"}]}}]`)
const kms = (fields: string) => one('[secrets]', `[{kms: {${fields}}}]`)

describe('readEncryptionConfiguration()', () => {
  it('reads every provider', () => {
    const config = readEncryptionConfiguration(
      one(
        '[secrets, configmaps]',
        `[{aesgcm: {keys: [{name: a, secret: "${key32}"}]}}, {secretbox: {keys: [{name: b, secret: "${key32}"}]}}, {identity: {}}]`,
      ),
    )
    expect(config.resources![0]!.resources).toEqual(['secrets', 'configmaps'])
    expect(config.resources![0]!.providers!.map((provider) => Object.keys(provider)[0])).toEqual([
      'aesgcm',
      'secretbox',
      'identity',
    ])
  })

  it.each([
    ['nothing', '', /is empty/],
    ['another kind', 'apiVersion: v1\nkind: Pod', /^got unexpected config type: v1, Kind=Pod$/],
    [
      'a field that there is not',
      one('[secrets]', '[{aescb: {}}]'),
      /unknown field "resources\[0\]\.providers\[0\]\.aescb"/,
    ],
    ['no resources', header, /^resources: Required value: at least one resources is required$/],
    [
      'an entry without resources',
      one('[]', '[{identity: {}}]'),
      /^resources\[0\]\.resources: Required value: at least one resources\[0\]\.resources is required$/,
    ],
    ['an entry without providers', one('[secrets]', '[]'), /^resources\[0\]\.providers: Required value/],
    [
      'an empty provider',
      one('[secrets]', '[{}]'),
      /provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity/,
    ],
    [
      'two providers in one',
      one('[secrets]', `[{identity: {}, aescbc: {keys: []}}]`),
      /more than one provider specified in a single element, should split into different list elements/,
    ],
    [
      'no keys',
      one('[secrets]', '[{aescbc: {keys: []}}]'),
      /aescbc\.keys: Required value: at least one keys is required/,
    ],
    [
      'a key without a name',
      one('[secrets]', `[{aescbc: {keys: [{secret: "${key32}"}]}}]`),
      /keys\[0\]\.name: Required value: name is a mandatory field for a key/,
    ],
    [
      'a key without a secret',
      one('[secrets]', '[{aescbc: {keys: [{name: a}]}}]'),
      /keys\[0\]\.secret: Required value: secret is a mandatory field for a key/,
    ],
    [
      'a secret that is no base64',
      withKey('!!'),
      /keys\[0\]\.secret: Invalid value: "REDACTED": secrets must be base64 encoded/,
    ],
    [
      'a secret that is too short',
      withKey('c2hvcnQ='),
      /Invalid value: "REDACTED": secret is not of the expected length, got 5, expected one of \[16 24 32\]/,
    ],
    [
      'a secretbox of 16 bytes',
      withKey(Buffer.alloc(16).toString('base64'), 'secretbox'),
      /got 16, expected one of \[32\]/,
    ],
    [
      'the same resource twice',
      one('[secrets, secrets]', '[{identity: {}}]'),
      /the same resource cannot be specified multiple times/,
    ],
    ['resources that overlap', one("[secrets, '*.']", '[{identity: {}}]'), /using overlapping resources/],
    ['a bare star', one("['*']", '[{identity: {}}]'), /use '\*\.' to encrypt all the resources from core API group/],
    ['capitals', one('[Secrets]', '[{identity: {}}]'), /resource name should not contain capital letters/],
    [
      'events of their group',
      one('[events.events.k8s.io]', '[{identity: {}}]'),
      /Use 'events' instead in the config file/,
    ],
    ['a group that is gone', one('[ingresses.extensions]', '[{identity: {}}]'), /'extensions' group has been removed/],
    [
      'one resource in all groups',
      one("['pods.*']", '[{identity: {}}]'),
      /encrypting the same resource across groups is not supported/,
    ],
    [
      'KMS without a name',
      kms('apiVersion: v2, endpoint: "unix:///x"'),
      /kms\.name: Required value: name is a mandatory field for a provider/,
    ],
    [
      'KMS with a colon',
      kms('apiVersion: v2, name: "a:b", endpoint: "unix:///x"'),
      /invalid KMS provider name a:b, must not contain ':'/,
    ],
    [
      'KMS over TCP',
      kms('apiVersion: v2, name: a, endpoint: "tcp://x"'),
      /unsupported scheme "tcp" for KMS provider, only unix is supported/,
    ],
    ['KMS without an endpoint', kms('apiVersion: v2, name: a'), /endpoint is a mandatory field for a kms/],
    ['KMS v1', kms('name: a, endpoint: "unix:///x"'), /only v2 is supported/],
    [
      'KMS v2 with a cache',
      kms('apiVersion: v2, name: a, endpoint: "unix:///x", cachesize: 5'),
      /cachesize is not supported in v2/,
    ],
    [
      'KMS with no time',
      kms('apiVersion: v2, name: a, endpoint: "unix:///x", timeout: 0s'),
      /timeout should be a positive value/,
    ],
  ])('refuses %s', (_what, text, message) => {
    expect(() => readEncryptionConfiguration(text)).toThrow(message)
  })

  it('never tells a secret', () => {
    const secret = 'bm90LWEtZ29vZC1rZXk='
    for (const text of [
      withKey(secret),
      one('[secrets]', `[{identity: {}, aescbc: {keys: [{name: a, secret: "${secret}"}]}}]`),
    ]) {
      expect(() => readEncryptionConfiguration(text)).toThrow(
        expect.not.objectContaining({ message: expect.stringContaining(secret) as string }),
      )
    }
  })
})

const around = { clock: new VirtualClock(0), random: systemRandom, logger: silentLogger }
const encryption = (text: string) => Encryption.of(readEncryptionConfiguration(text), around)

describe('Encryption', () => {
  const aes = (name: string) => `{aesgcm: {keys: [{name: ${name}, secret: "${key32}"}]}}`
  const rules = (list: [string, string][]) =>
    `${header}resources:\n${list.map(([resources, name]) => `- {resources: [${resources}], providers: [${aes(name)}]}`).join('\n')}`
  /** The name of the key that encrypts under a key of the store; empty if none does. */
  const keyName = async (text: string, key: string) => {
    const written = (await encryption(text)).transformerOf(key).write(Buffer.from('{}'), key)
    return /^k8s:enc:aesgcm:v1:(\w+):/.exec(written.toString('latin1'))?.[1] ?? ''
  }

  it.each([
    ['a core resource', [['secrets', 'a']], '/registry/secrets/default/x', 'a'],
    ['another one', [['secrets', 'a']], '/registry/configmaps/default/x', ''],
    ['a resource of a group', [['deployments.apps', 'a']], '/registry/deployments/default/x', 'a'],
    ['a custom resource', [['widgets.example.com', 'a']], '/registry/example.com/widgets/default/x', 'a'],
    ['a resource with an old name in the store', [['services', 'a']], '/registry/services/specs/default/x', 'a'],
    ['nodes', [['nodes', 'a']], '/registry/minions/x', 'a'],
    ['the core group', [["'*.'", 'a']], '/registry/pods/default/x', 'a'],
    ['no other group', [["'*.'", 'a']], '/registry/deployments/default/x', ''],
    ['a whole group', [["'*.apps'", 'a']], '/registry/statefulsets/default/x', 'a'],
    ['everything', [["'*.*'", 'a']], '/registry/example.com/widgets/x', 'a'],
    [
      'the most exact rule',
      [
        ['secrets', 'a'],
        ["'*.'", 'b'],
        ["'*.*'", 'c'],
      ],
      '/registry/secrets/default/x',
      'a',
    ],
    [
      'then the group',
      [
        ['secrets', 'a'],
        ["'*.'", 'b'],
        ["'*.*'", 'c'],
      ],
      '/registry/pods/default/x',
      'b',
    ],
    [
      'then the rest',
      [
        ['secrets', 'a'],
        ["'*.'", 'b'],
        ["'*.*'", 'c'],
      ],
      '/registry/jobs/default/x',
      'c',
    ],
    [
      'the first of two rules',
      [
        ['secrets', 'a'],
        ['secrets', 'b'],
      ],
      '/registry/secrets/default/x',
      'a',
    ],
  ] as [string, [string, string][], string, string][])('covers %s', async (_what, list, key, name) => {
    expect(await keyName(rules(list), key)).toBe(name)
  })

  it('refuses a rule that is masked by one before it', async () => {
    await expect(
      encryption(
        rules([
          ["'*.apps'", 'a'],
          ['deployments.apps', 'b'],
        ]),
      ),
    ).rejects.toThrow('resource "deployments.apps" is masked by earlier rule "*.apps"')
    await expect(
      encryption(
        rules([
          ["'*.*'", 'a'],
          ['secrets', 'b'],
        ]),
      ),
    ).rejects.toThrow('resource "secrets" is masked by earlier rule "*.*"')
  })
})
