using System;
using System.IO;
using System.IO.Compression;
using System.Linq;
using System.Security;
using System.Text;
using System.Xml.Linq;

/// <summary>
/// Makes a NuGet package of a library that Mono has compiled, with the metadata of the project file; the SDK's own tool does not
/// run on Mono. <c>Pack.exe PROJECT LIBRARY-WITHOUT-EXTENSION FOLDER</c>
/// </summary>
internal static class Pack
{
    /// <summary>The oldest framework that has everything the library needs, and compatible with what Mono compiles.</summary>
    private const string Framework = "net472";

    private static void Main(string[] arguments)
    {
        var project = XDocument.Load(arguments[0]);
        Func<string, string> property = name => project.Descendants(name).Single().Value;
        var (id, version) = (property("PackageId"), property("Version"));
        Func<string, string, string> element = (name, value) => $"    <{name}>{SecurityElement.Escape(value)}</{name}>\n";
        var metadata = element("id", id) + element("version", version) + element("authors", property("Authors"))
            + $"    <license type=\"expression\">{property("PackageLicenseExpression")}</license>\n"
            + element("readme", property("PackageReadmeFile")) + element("description", property("Description"))
            + element("tags", property("PackageTags"))
            + $"    <dependencies>\n      <group targetFramework=\".NETFramework4.7.2\" />\n    </dependencies>\n";
        var specification = Declaration + "<package xmlns=\"http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd\">\n"
            + $"  <metadata>\n{metadata}  </metadata>\n</package>\n";
        var path = Path.Combine(arguments[2], $"{id}.{version}.nupkg");
        File.Delete(path);
        using (var package = ZipFile.Open(path, ZipArchiveMode.Create))
        {
            Add(package, "[Content_Types].xml", ContentTypes);
            Add(package, "_rels/.rels", Relationships(id));
            Add(package, id + ".nuspec", specification);
            var readme = property("PackageReadmeFile");
            package.CreateEntryFromFile(Path.Combine(Path.GetDirectoryName(arguments[0]), readme), readme);
            foreach (var extension in new[] { ".dll", ".xml" })
            {
                package.CreateEntryFromFile(arguments[1] + extension, $"lib/{Framework}/{id}{extension}");
            }
        }
    }

    private const string Declaration = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";

    private const string ContentTypes = Declaration
        + "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\n"
        + "  <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\" />\n"
        + "  <Default Extension=\"nuspec\" ContentType=\"application/octet\" />\n"
        + "  <Default Extension=\"dll\" ContentType=\"application/octet\" />\n"
        + "  <Default Extension=\"xml\" ContentType=\"application/octet\" />\n"
        + "  <Default Extension=\"md\" ContentType=\"application/octet\" />\n</Types>\n";

    private static string Relationships(string id)
    {
        return Declaration + "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\n"
            + $"  <Relationship Id=\"R1\" Target=\"/{id}.nuspec\""
            + " Type=\"http://schemas.microsoft.com/packaging/2010/07/manifest\" />\n</Relationships>\n";
    }

    private static void Add(ZipArchive package, string name, string text)
    {
        using (var writer = new StreamWriter(package.CreateEntry(name).Open(), new UTF8Encoding(false)))
        {
            writer.Write(text);
        }
    }
}
