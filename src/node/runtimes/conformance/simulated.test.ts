import { SeededRandom } from '../../../base/seeded-random.ts'
import { VirtualClock } from '../../../base/virtual-clock.ts'
import { SimulatedRuntime } from '../simulated/index.ts'
import { describeRuntime } from './runtime-suite.ts'

describeRuntime('simulated', async () => {
  const clock = new VirtualClock()
  const runtime = new SimulatedRuntime({ clock, random: new SeededRandom(1), podSubnet: '10.244.0' })
  return {
    runtime,
    logDirectory: '/var/log/pods',
    async until(holds) {
      for (let step = 0; !(await holds()); step++) {
        if (step > 100) throw new Error('it did not come to hold')
        clock.advance(100)
      }
    },
    end: () => runtime.close(),
  }
})
