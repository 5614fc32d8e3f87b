import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readAdmissionConfiguration } from './admission-configuration.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'coxswain-admission-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const write = (name: string, text: string) => {
  writeFileSync(path.join(dir, name), text)
  return path.join(dir, name)
}
const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n'

describe('an admission configuration', () => {
  it('tells plugins what stands in it, or in files beside it', () => {
    write('limits.yaml', 'limits: [{type: Server, qps: 1, burst: 2}]\n')
    const file = write('a.yaml', `${head}plugins:
- name: PodSecurity
  configuration: {defaults: {enforce: baseline}}
- name: EventRateLimit
  path: limits.yaml
- name: LimitRanger
`)
    expect(readAdmissionConfiguration(file)).toEqual(new Map<string, object>([
      ['PodSecurity', { defaults: { enforce: 'baseline' } }],
      ['EventRateLimit', { limits: [{ type: 'Server', qps: 1, burst: 2 }] }],
    ]))
  })

  it.each<[string, string, string]>([
    ['another kind', 'kind: Pod\napiVersion: v1\n', 'no kind "Pod" is registered for version "v1"'],
    ['no object', '[]', 'must be an object'],
    ['a plugin without a name', `${head}plugins: [{}]`, 'each plugin must have a name'],
    [
      'a configuration that is none',
      `${head}plugins: [{name: A, configuration: x}]`,
      'the configuration of A must be an object',
    ],
    ['a file that is not there', `${head}plugins: [{name: A, path: none.yaml}]`, 'ENOENT'],
    ['no list', `${head}plugins: {}`, 'plugins must be a list'],
    ['no YAML', ':\n  - {', '--admission-control-config-file'],
  ])('is refused for %s', (_, text, why) => {
    expect(() => readAdmissionConfiguration(write('a.yaml', text))).toThrow(why)
  })
})
