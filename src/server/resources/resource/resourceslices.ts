import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { Device, ResourceSlice } from '../../../api/generated/types.ts'
import { timestamp } from '../../../api/object.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'
import { validateSliceSpec } from './slice-validation.ts'

const specPath = Path.of('spec')

/** Drops fields of alpha features, which are off by default. */
function dropAlphaFields({ spec }: ResourceSlice): void {
  for (const device of spec?.devices ?? []) {
    delete device.nodeAllocatableResourceMappings
    for (const attribute of Object.values(device.attributes ?? {})) dropLists(attribute)
  }
}

function dropLists(attribute: NonNullable<Device['attributes']>[string]): void {
  for (const field of ['bools', 'ints', 'strings', 'versions'] as const) delete attribute[field]
}

/** ResourceSlices: the devices of a driver. */
export const resourceslices = defineResource<ResourceSlice>({
  ...kindNames.resourceslices,
  nameRule: subdomainName,
  deleteAnswersObject: true,
  generation: true,
  defaults({ spec }, { now }) {
    for (const device of spec?.devices ?? [])
      for (const taint of device.taints ?? []) taint.timeAdded ??= timestamp(now)
  },
  prepareForCreate: dropAlphaFields,
  prepareForUpdate: dropAlphaFields,
  validate: ({ spec }) => validateSliceSpec(spec, undefined, specPath),
  validateUpdate: ({ spec }, old) => validateSliceSpec(spec, old.spec, specPath),
  selectableFields: {
    'spec.driver': ({ spec }) => spec?.driver ?? '',
    'spec.nodeName': ({ spec }) => spec?.nodeName ?? '',
  },
  columns: [
    nameColumn(),
    {
      name: 'Node',
      type: 'string',
      description: () => describeField('ResourceSliceSpec', 'nodeName'),
      cell: ({ spec }) => spec?.nodeName ?? '',
    },
    {
      name: 'Driver',
      type: 'string',
      description: () => describeField('ResourceSliceSpec', 'driver'),
      cell: ({ spec }) => spec?.driver ?? '',
    },
    {
      name: 'Pool',
      type: 'string',
      description: () => describeField('ResourcePool', 'name'),
      cell: ({ spec }) => spec?.pool?.name ?? '',
    },
    ageColumn(),
  ],
})
