import { describe, expect, it } from 'vitest'
import { findKind, parseNames } from './names.ts'

describe('parseNames()', () => {
  it.each([
    ['a kind', ['deploy'], [['deploy', undefined]]],
    [
      'kinds',
      ['deploy,sts'],
      [
        ['deploy', undefined],
        ['sts', undefined],
      ],
    ],
    [
      'a kind and names',
      ['deploy', 'web', 'api'],
      [
        ['deploy', 'web'],
        ['deploy', 'api'],
      ],
    ],
    [
      'kind/name',
      ['deploy/web', 'sts/db'],
      [
        ['deploy', 'web'],
        ['sts', 'db'],
      ],
    ],
    ['nothing', [], []],
  ])('%s', (_, args, named) => {
    expect(parseNames(args).map(({ kind, name }) => [kind, name])).toEqual(named)
  })

  it.each([
    ['both forms at once', ['deploy', 'sts/db'], 'there is no need to specify a resource type as a separate argument'],
    ['two slashes', ['deploy/web/x'], 'may not have more than one slash'],
    ['no name', ['deploy/'], 'must have a single resource and name'],
    ['no kind', ['/web'], 'must have a single resource and name'],
  ])('refuses %s', (_, args, message) => expect(() => parseNames(args)).toThrow(message))
})

describe('findKind()', () => {
  it.each([
    ['deploy', 'Deployment'],
    ['Deployment', 'Deployment'],
    ['deployments', 'Deployment'],
    ['deployments.apps', 'Deployment'],
    ['deployment.v1.apps', 'Deployment'],
    ['sts', 'StatefulSet'],
    ['ds', 'DaemonSet'],
    ['rs', 'ReplicaSet'],
    ['rc', 'ReplicationController'],
    ['replicationcontrollers.v1', 'ReplicationController'],
    ['job', 'Job'],
    ['cj', 'CronJob'],
    ['cronjobs.batch', 'CronJob'],
    ['clone', 'CloneSet'],
    ['cloneset', 'CloneSet'],
    ['clonesets.apps.kruise.io', 'CloneSet'],
    ['deployments.extensions', undefined],
    ['pods', undefined],
    ['deploymentss', undefined],
    ['', undefined],
  ])('%j', (text, kind) => expect(findKind(text)?.kind).toBe(kind))
})
