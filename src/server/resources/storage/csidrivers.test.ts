import { describe, expect, it } from 'vitest'
import { DecodedTrial } from '../resource-trial.ts'
import { csidrivers } from './csidrivers.ts'
import { csinodes } from './csinodes.ts'
import { csistoragecapacities } from './csistoragecapacities.ts'

const drivers = new DecodedTrial(csidrivers)
const nodes = new DecodedTrial(csinodes)
const capacities = new DecodedTrial(csistoragecapacities)

describe('csidrivers', () => {
  it('are filled in', () => {
    expect(drivers.created({}).spec).toEqual({
      attachRequired: true, fsGroupPolicy: 'ReadWriteOnceWithFSType', podInfoOnMount: false, requiresRepublish: false, seLinuxMount: false,
      storageCapacity: false, volumeLifecycleModes: ['Persistent'],
    })
  })

  it.each<[string, object, string[]]>([
    ['an unknown policy', { fsGroupPolicy: 'Odd' }, [
      'spec.fsGroupPolicy: Unsupported value: "Odd": supported values: "File", "None", "ReadWriteOnceWithFSType"',
    ]],
    ['an unknown mode', { volumeLifecycleModes: ['Odd'] }, ['spec.volumeLifecycleModes: Unsupported value: "Odd": supported values: "Ephemeral", "Persistent"']],
    ['tokens too short, too long and twice', {
      tokenRequests: [{ audience: 'a', expirationSeconds: 5 }, { audience: 'b', expirationSeconds: 2 ** 32 + 1 }, { audience: 'a' }],
    }, [
      'spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
      'spec.tokenRequests[1].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
      'spec.tokenRequests[2].audience: Duplicate value: "a"',
    ]],
    ['updates too often', { nodeAllocatableUpdatePeriodSeconds: 9 }, [
      'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds',
    ]],
    ['secrets without tokens', { serviceAccountTokenInSecrets: true }, [
      'spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified',
    ]],
  ])('says of %s', (_, spec, refusals) => {
    expect(drivers.refusals({ spec })).toEqual(refusals)
  })

  it('keep how they attach and their modes', () => {
    expect(drivers.updateRefusals(drivers.created({}), { spec: { attachRequired: false, volumeLifecycleModes: ['Ephemeral'] } })).toEqual([
      'spec.attachedRequired: Invalid value: false: field is immutable',
      'spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable',
    ])
  })

  it('count the changes that matter to mounted volumes', () => {
    const old = drivers.created({})
    delete old.metadata.generation
    expect(drivers.updated(old, { spec: { requiresRepublish: true } }).metadata.generation).toBe(1)
    expect(drivers.updated(old, { spec: { storageCapacity: true } }).metadata.generation).toBeUndefined()
  })

  it('warn where tokens would stand among the attributes', () => {
    expect(drivers.warnings(drivers.created({ spec: { tokenRequests: [{ audience: 'a' }] } }))).toHaveLength(1)
    expect(drivers.warnings(drivers.created({ spec: { tokenRequests: [{ audience: 'a' }], serviceAccountTokenInSecrets: true } }))).toEqual([])
  })

  it('show audiences and modes', () => {
    expect(drivers.cells(drivers.created({ spec: { tokenRequests: [{ audience: 'a' }, { audience: 'b' }] } }))).toMatchObject({
      AttachRequired: true, TokenRequests: 'a,b', Modes: 'Persistent',
    })
    expect(drivers.cells(drivers.created({}))).toMatchObject({ TokenRequests: '<unset>' })
  })
})

describe('csinodes', () => {
  const driver = { name: 'example.com', nodeID: 'n', topologyKeys: ['zone'] }
  it.each<[string, object[], string[]]>([
    ['none', [], []],
    ['a plain one', [driver], []],
    ['a driver twice', [driver, driver], ['spec.drivers[1].name: Duplicate value: "example.com"']],
    ['nothing given', [{ name: '', nodeID: '' }], ['spec.drivers[0].name: Required value', 'spec.drivers[0].nodeID: Required value']],
    ['an ID too long', [{ ...driver, nodeID: 'n'.repeat(257) }], [`spec.drivers[0].nodeID: Invalid value: "${'n'.repeat(257)}": must be 256 characters or less`]],
    ['a negative count', [{ ...driver, allocatable: { count: -1 } }], ['spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0']],
    ['a key twice', [{ ...driver, topologyKeys: ['a', 'a'] }], ['spec.drivers[0]: Duplicate value: "a"']],
  ])('says of %s', (_, list, refusals) => {
    expect(nodes.refusals({ spec: { drivers: list } })).toEqual(refusals)
  })

  it('let drivers come, go and fill up, but not change', () => {
    const old = nodes.created({ spec: { drivers: [driver] } })
    const update = (...list: object[]) => nodes.updateRefusals(old, { spec: { drivers: list } })
    expect(update()).toEqual([])
    expect(update(driver, { ...driver, name: 'b.example.com' })).toEqual([])
    expect(update({ ...driver, allocatable: { count: 3 } })).toEqual([])
    expect(update({ ...driver, nodeID: 'm' })).toEqual([
      'spec.drivers: Invalid value: {"Name":"example.com","NodeID":"m","TopologyKeys":["zone"],"Allocatable":null}: field is immutable',
    ])
  })

  it('show how many', () => {
    expect(nodes.cells(nodes.created({ spec: { drivers: [driver] } }))).toMatchObject({ Drivers: 1 })
  })
})

describe('csistoragecapacities', () => {
  it('may not be negative, and stay where they are', () => {
    expect(capacities.refusals({ storageClassName: 'sc', capacity: '1Gi' })).toEqual([])
    expect(capacities.refusals({ storageClassName: 'sc', capacity: '-1', maximumVolumeSize: '-2' })).toEqual([
      'capacity: Invalid value: "-1": must be greater than or equal to 0', 'maximumVolumeSize: Invalid value: "-2": must be greater than or equal to 0',
    ])
    const old = capacities.created({ storageClassName: 'sc' })
    expect(capacities.updateRefusals(old, { storageClassName: 'sc', capacity: '1Gi' })).toEqual([])
    expect(capacities.updateRefusals(old, { storageClassName: 'other', nodeTopology: { matchLabels: { a: 'b' } } })).toEqual([
      'nodeTopology: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable', 'storageClassName: Invalid value: "other": field is immutable',
    ])
  })
})
