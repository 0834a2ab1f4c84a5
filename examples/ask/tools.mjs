/** A tool for `fermata ask`; the script beside it plays the model. */
import { defineTool } from 'fermata';

const CELSIUS = { Oslo: -4, Rome: 14, Lima: 19 };

// biome-ignore lint/style/noDefaultExport: that is what a tools file has
export default [
  defineTool({
    name: 'weather.forecast',
    description: 'How warm it is going to be today, in degrees Celsius',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    execute: ({ city }) => CELSIUS[city],
  }),
];
