import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** A model service on the loopback interface, for what has to be measured or warmed up with one. */
export interface ModelService {
  /** Addresses and keys for whoever is to ask it. */
  readonly env: Readonly<Record<string, string>>;
  stop(): void;
}

/** @throws Error when no service can be started here */
export async function startModelService(): Promise<ModelService> {
  const program = join(import.meta.dirname, 'bench/model-service.mjs');
  const service = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = await new Promise<string>((resolve, reject) => {
    service.stdout.once('data', (data: Buffer) => resolve(data.toString().trim()));
    service.once('error', reject);
    service.once('exit', (code) => reject(new Error(`the model service ended with ${code}`)));
  });
  return {
    env: {
      HARN_LLM_CALLS_DISABLED: '',
      OPENAI_API_KEY: 'sk-loopback',
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      ANTHROPIC_API_KEY: 'sk-loopback',
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    },
    stop: () => service.stdin.end(),
  };
}
